CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);

CREATE TABLE sessions (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	harness TEXT NOT NULL, 
	agent TEXT, 
	title TEXT, 
	started_at BIGINT, 
	ended_at BIGINT, 
	parent TEXT, 
	outcome DOUBLE, 
	facts TEXT, 
	source TEXT, 
	revision INTEGER NOT NULL, 
	turns INTEGER NOT NULL, 
	added_at BIGINT NOT NULL, 
	removed_at BIGINT, 
	changed BIGINT NOT NULL, project TEXT, project_path TEXT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX sessions_in_order_of_change ON sessions (workspace, changed);

CREATE TABLE turns (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	role TEXT NOT NULL, 
	origin TEXT NOT NULL, 
	name TEXT, 
	at BIGINT, 
	noise TEXT, 
	detail TEXT, 
	text TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, session_id, revision, number)
)
 WITHOUT ROWID

;

CREATE TABLE sources (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	path TEXT NOT NULL, 
	reader TEXT, 
	added_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, path)
);

CREATE TABLE files (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	path TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	read_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, path)
);

CREATE TABLE counters (
	workspace TEXT NOT NULL, 
	name TEXT NOT NULL, 
	value BIGINT NOT NULL, 
	PRIMARY KEY (workspace, name)
);

CREATE TABLE blobs (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	content BLOB NOT NULL, 
	PRIMARY KEY (workspace, user, sha256)
);

CREATE TABLE changes (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	target TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	standing TEXT NOT NULL, 
	number BIGINT, 
	via TEXT NOT NULL, 
	actor TEXT NOT NULL, 
	proposal TEXT, 
	dream TEXT, 
	undoes TEXT, 
	details TEXT NOT NULL, 
	salt TEXT NOT NULL, 
	intended_at BIGINT NOT NULL, 
	settled_at BIGINT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX changes_in_order ON changes (workspace, number);

CREATE INDEX changes_of_a_subject ON changes (workspace, user, target, subject, number);

CREATE UNIQUE INDEX one_live_change_for_a_proposal ON changes (workspace, user, proposal) WHERE proposal is not null and standing <> 'conflicted';

CREATE TABLE edits (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	change_id TEXT NOT NULL, 
	document TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	"before" TEXT, 
	"after" TEXT, 
	PRIMARY KEY (workspace, user, change_id, document)
);

CREATE TABLE documents (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	target TEXT NOT NULL, 
	document TEXT NOT NULL, 
	sha256 TEXT, 
	number BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, target, document)
);

CREATE TABLE entries (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	target TEXT NOT NULL, 
	document TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	since BIGINT, 
	seen BIGINT NOT NULL, 
	critical BOOLEAN NOT NULL, 
	change_id TEXT NOT NULL, 
	came BIGINT NOT NULL, 
	went BIGINT, said BIGINT, 
	PRIMARY KEY (workspace, user, id, version)
);

CREATE INDEX entries_of_a_document ON entries (workspace, user, target, document, went);

CREATE TABLE ledger (
	workspace TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	kind TEXT NOT NULL, 
	user TEXT NOT NULL, 
	body TEXT NOT NULL, 
	previous TEXT NOT NULL, 
	hash TEXT NOT NULL, salt TEXT, details TEXT, 
	PRIMARY KEY (workspace, number)
);

CREATE TRIGGER ledger_no_delete before delete on ledger begin select raise(abort, 'the ledger is append-only'); end;

CREATE TABLE proposals (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	target TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	status TEXT NOT NULL, 
	proposer TEXT NOT NULL, 
	dream TEXT, 
	hash TEXT NOT NULL, 
	details TEXT NOT NULL, 
	made_at BIGINT NOT NULL, 
	expires_at BIGINT NOT NULL, 
	decided_at BIGINT, rank DOUBLE DEFAULT 0 NOT NULL, snoozed_until BIGINT, project TEXT DEFAULT '' NOT NULL, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX proposals_by_status ON proposals (workspace, user, status, made_at);

CREATE TABLE contexts (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	session TEXT, 
	at BIGINT NOT NULL, 
	asked TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX contexts_in_order ON contexts (workspace, user, at);

CREATE TABLE dreams (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	target TEXT NOT NULL, 
	status TEXT NOT NULL, 
	started_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	details TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX dreams_in_order ON dreams (workspace, user, number);

CREATE TABLE dreamt (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	target TEXT NOT NULL, 
	session_user TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	turns INTEGER NOT NULL, 
	dream TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, target, session_user, session_id)
);

CREATE TABLE candidates (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	target TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	staged BOOLEAN NOT NULL, 
	said_at BIGINT, 
	dream TEXT NOT NULL, 
	details TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX candidates_staged ON candidates (workspace, user, target, staged);

CREATE TABLE api_keys (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	name TEXT NOT NULL, 
	permissions TEXT NOT NULL, 
	prefix TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	made_at BIGINT NOT NULL, 
	expires_at BIGINT, 
	revoked_at BIGINT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX api_keys_by_prefix ON api_keys (prefix);

CREATE TABLE memory_stores (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	details TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	archived_at BIGINT, 
	held INTEGER NOT NULL, 
	written BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX memory_stores_of_a_workspace ON memory_stores (workspace, id);

CREATE TABLE memories (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	store TEXT NOT NULL, 
	id TEXT NOT NULL, 
	path TEXT NOT NULL, 
	sha256 TEXT NOT NULL, 
	size INTEGER NOT NULL, 
	version TEXT NOT NULL, 
	flags TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, dates TEXT, 
	PRIMARY KEY (workspace, user, store, id)
);

CREATE UNIQUE INDEX memories_by_path ON memories (workspace, user, store, path);

CREATE TABLE memory_versions (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	store TEXT NOT NULL, 
	id TEXT NOT NULL, 
	number BIGINT NOT NULL, 
	memory TEXT NOT NULL, 
	operation TEXT NOT NULL, 
	path TEXT, 
	sha256 TEXT, 
	size INTEGER, 
	flags TEXT NOT NULL, 
	hand TEXT NOT NULL, 
	author TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	change_id TEXT, 
	redacted_at BIGINT, 
	redacted_hand TEXT, 
	redacted_by TEXT, 
	PRIMARY KEY (workspace, user, store, id)
);

CREATE UNIQUE INDEX memory_versions_in_order ON memory_versions (workspace, user, store, number);

CREATE INDEX memory_versions_of_a_memory ON memory_versions (workspace, user, store, memory, number);

CREATE TABLE nights (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	asked TEXT NOT NULL, 
	queued BOOLEAN NOT NULL, 
	attempts INTEGER NOT NULL, 
	landing BOOLEAN NOT NULL, 
	thought TEXT, 
	PRIMARY KEY (workspace, user, dream)
);

CREATE TABLE leases (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	target TEXT NOT NULL, 
	holder TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	token BIGINT NOT NULL, 
	until BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, target)
);

CREATE TABLE chosen (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	session_user TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	turns INTEGER NOT NULL, 
	noticed INTEGER, told TEXT, 
	PRIMARY KEY (workspace, user, dream, place)
);

CREATE TABLE noticed (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	said_at BIGINT, 
	details TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, dream, place, number)
);

CREATE TABLE planned (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	place INTEGER NOT NULL, 
	details TEXT NOT NULL, 
	became TEXT, 
	PRIMARY KEY (workspace, user, dream, place)
);

CREATE TABLE definitions (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	details TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	archived_at BIGINT, 
	PRIMARY KEY (workspace, user, kind, id)
);

CREATE INDEX definitions_of_a_workspace ON definitions (workspace, kind, id);

CREATE TABLE definition_versions (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	id TEXT NOT NULL, 
	version INTEGER NOT NULL, 
	details TEXT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, kind, id, version)
);

CREATE TABLE recorded (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	agent TEXT NOT NULL, 
	agent_version INTEGER NOT NULL, 
	environment TEXT NOT NULL, 
	status TEXT NOT NULL, 
	stores TEXT NOT NULL, 
	details TEXT NOT NULL, 
	events INTEGER NOT NULL, 
	created_at BIGINT NOT NULL, 
	updated_at BIGINT NOT NULL, 
	archived_at BIGINT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX recorded_of_a_workspace ON recorded (workspace, id);

CREATE TABLE recorded_events (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	session TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	id TEXT NOT NULL, 
	type TEXT NOT NULL, 
	at BIGINT NOT NULL, 
	details TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, session, number)
);

CREATE TABLE calls (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	number INTEGER NOT NULL, 
	phase TEXT NOT NULL, 
	model TEXT NOT NULL, 
	prompt TEXT NOT NULL, 
	prompt_sha256 TEXT NOT NULL, 
	question TEXT NOT NULL, 
	outcome TEXT NOT NULL, 
	tokens_in BIGINT NOT NULL, 
	tokens_out BIGINT NOT NULL, 
	cached BIGINT NOT NULL, 
	reported BOOLEAN NOT NULL, 
	cost BIGINT, 
	seconds DOUBLE NOT NULL, 
	sent BIGINT NOT NULL, 
	whole BIGINT NOT NULL, 
	at BIGINT NOT NULL, 
	exceeded TEXT, run TEXT, 
	PRIMARY KEY (workspace, user, dream, number)
);

CREATE INDEX calls_of_a_day ON calls (workspace, at);

CREATE TABLE answers (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	dream TEXT NOT NULL, 
	phase TEXT NOT NULL, 
	question TEXT NOT NULL, 
	value TEXT NOT NULL, 
	PRIMARY KEY (workspace, user, dream, phase, question)
);

CREATE TABLE store_dreams (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	store TEXT NOT NULL, 
	output TEXT NOT NULL, 
	session TEXT NOT NULL, 
	in_place BOOLEAN NOT NULL, 
	asked TEXT NOT NULL, 
	cloned BOOLEAN NOT NULL, 
	told TEXT NOT NULL, 
	created_at BIGINT NOT NULL, 
	archived_at BIGINT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE INDEX store_dreams_of_a_workspace ON store_dreams (workspace, id);

CREATE INDEX calls_of_a_run ON calls (workspace, user, run);

CREATE TABLE quarantine (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	path TEXT NOT NULL, 
	reader TEXT NOT NULL, 
	fingerprint TEXT NOT NULL, 
	why TEXT NOT NULL, 
	since BIGINT NOT NULL, 
	tried_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, path)
);

CREATE TABLE arrivals (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	session_id TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	kept INTEGER NOT NULL, 
	begun_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, user, session_id)
);

CREATE TRIGGER ledger_no_update before update on ledger when not (new.body = '' and new."user" = '' and new.salt is null and new."workspace" is old."workspace" and new."number" is old."number" and new."at" is old."at" and new."kind" is old."kind" and new."previous" is old."previous" and new."hash" is old."hash" and new."details" is old."details") begin select raise(abort, 'the ledger is append-only'); end;

CREATE TABLE erasures (
	workspace TEXT NOT NULL, 
	user TEXT NOT NULL, 
	id TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	step TEXT NOT NULL, 
	wanted TEXT NOT NULL, 
	report TEXT NOT NULL, 
	begun_at BIGINT NOT NULL, 
	ended_at BIGINT, 
	PRIMARY KEY (workspace, user, id)
);

CREATE TABLE tombstones (
	workspace TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	words INTEGER NOT NULL, 
	erasure TEXT NOT NULL, 
	PRIMARY KEY (workspace, kind, hash)
);

CREATE TABLE tombstone_keys (
	workspace TEXT NOT NULL, 
	"key" TEXT NOT NULL, 
	PRIMARY KEY (workspace)
);

CREATE TABLE backups (
	workspace TEXT NOT NULL, 
	path TEXT NOT NULL, 
	made_at BIGINT NOT NULL, 
	PRIMARY KEY (workspace, path)
);

INSERT INTO alembic_version (version_num) VALUES ('0017');
