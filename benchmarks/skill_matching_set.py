# ruff: noqa: E501
"""Forty-eight skills and one hundred and sixteen tasks, written by hand, with the skill each task calls for or none.

A skill: name | description | tags | triggers. A task: text | name of the skill, or `-`, or several with commas
between them where either would do. Tasks are asked the way people ask, mostly not in the words of the description.
"""

SKILLS = """
release-checklist | Use when cutting a release: version bump, changelog, git tag and smoke test of the package. | release, git, python | cut a release, publish a new version, ship it
deploy-staging | Roll out the web app to the staging cluster with Helm and verify its health checks. | deploy, kubernetes, helm | deploy to staging, push to staging
deploy-production | Production rollout with approval, canary stage and rollback plan. | deploy, kubernetes, production | deploy to prod, production deploy, go live
rollback | Undo a bad rollout: revert to the previous image and tell the on-call channel. | deploy, incident | roll back, revert the deploy
incident-response | Handle an outage: triage, status page, war room, and who to page. | incident, oncall | outage, production is down, sev1
postmortem-writing | Write a blameless review after an incident, with timeline, contributing factors and actions. | incident, writing | postmortem, incident review
postgres-migration | Write and run schema changes on Postgres without locking tables for long. | database, postgres, sql | schema migration, alter table, add a column
postgres-tuning | Find slow queries with EXPLAIN, add indexes, and tune autovacuum. | database, postgres, performance | slow query, explain analyze
database-backup | Back up the databases with pgBackRest and test that the copy can be restored. | database, backup | restore a backup, dump the database
redis-cache | Use Redis as a cache: key names, expiry, invalidation and stampedes. | cache, redis | cache invalidation
django-endpoint | Add a REST endpoint in the Django backend with serializer, permissions and tests. | python, django, api | new endpoint, add an api route
fastapi-service | Scaffold a FastAPI microservice with settings, logging and Dockerfile. | python, fastapi, api | new microservice
python-packaging | Build wheels with hatchling, set metadata in pyproject.toml, upload to PyPI with trusted publishing. | python, packaging | pyproject, upload to pypi
pytest-flaky-tests | Track down tests that fail now and then: seeds, time, ordering and shared state. | testing, python | flaky test, intermittent failure
python-profiling | Measure where Python spends its time and memory with py-spy and memray. | python, performance | profile the code, memory leak
react-component | Build an accessible React component with TypeScript, stories and tests. | frontend, react, typescript | new component
css-layout | Fix layout problems with grid and flexbox; responsive breakpoints. | frontend, css | layout is broken, center a div
playwright-e2e | Write browser tests with Playwright: locators, fixtures, traces. | testing, frontend, browser | end to end test, browser test
accessibility-audit | Check pages against WCAG: contrast, keyboard, labels, screen readers. | frontend, accessibility | wcag, a11y
docker-images | Make container images small and safe: multi-stage builds, non-root users, pinned bases. | docker, containers | dockerfile, image size
github-actions | Write CI workflows: caching, matrices, secrets, reusable actions. | ci, github | ci pipeline, workflow yaml
terraform-changes | Plan and apply infrastructure changes with Terraform; state, modules, drift. | infrastructure, terraform, aws | terraform plan, infrastructure as code
aws-cost-review | Find what costs money on AWS and propose savings: idle instances, storage classes, reservations. | aws, cost | cloud bill, aws spend
dns-and-certificates | Change DNS records and renew TLS certificates with cert-manager. | network, tls, dns | ssl certificate, dns record
secrets-rotation | Rotate API keys and passwords in Vault and everywhere they are used. | security, vault | rotate keys, leaked credential
dependency-upgrades | Upgrade third-party libraries safely: read changelogs, one at a time, run the suite. | maintenance, security | bump dependencies, renovate
security-review | Review a change for injection, broken authorisation, unsafe deserialisation and secrets. | security, review | security audit, threat model
code-review | Review pull requests: correctness, tests, naming, size; how to phrase comments. | review, git | review this pr, pull request review
git-history | Clean up commits before merging: interactive rebase, fixup, splitting commits. | git | rebase, squash commits
git-bisect | Find the commit that broke something by bisecting. | git, debugging | when did this break, bisect
api-docs | Write reference documentation for the HTTP API from the OpenAPI file. | docs, api | openapi, api reference
readme-writing | Write a README a newcomer can use: what, why, install, first example. | docs, writing | readme
changelog-entry | Write the line of the changelog for the person who upgrades. | docs, release | changelog
translation | Translate user interface strings and keep placeholders and plural forms intact. | i18n, writing | translate, localize
sql-report | Answer a business question with a SQL query on the warehouse and a short summary. | data, sql, analytics | how many customers, pull the numbers
data-cleaning | Clean messy CSV and Excel files with pandas: types, duplicates, missing values. | data, pandas | clean up this spreadsheet, csv
chart-making | Make clear charts with matplotlib: choice of chart, labels, colours. | data, visualisation | plot, graph
model-training | Train and evaluate a scikit-learn classifier without leaking the test set. | ml, python | train a model, classifier
prompt-evaluation | Compare prompts for a language model on a labelled set and report the difference honestly. | ml, llm | eval the prompt
airflow-dag | Write a scheduled data pipeline as an Airflow DAG with retries and backfill. | data, pipelines | dag, nightly job
invoice-processing | Read supplier invoices from PDF, check the totals and book them. | finance, pdf | invoice, bill from a supplier
expense-report | Put travel receipts into the expense form, with currency and VAT. | finance, travel | expenses, reimbursement
travel-booking | Book trains, flights and hotels within the travel policy. | travel | book a flight, hotel
meeting-notes | Turn a transcript of a meeting into decisions, actions and owners. | writing, meetings | minutes, summarise the meeting
customer-reply | Answer support tickets kindly: apologise once, say what happens next, no promises of dates. | support, writing | support ticket, angry customer
refund-handling | Decide on and issue refunds in Stripe within the refund policy. | support, finance, stripe | refund, chargeback
job-interview | Prepare and run structured interviews for engineers, with a scorecard. | hiring | interview a candidate
onboarding | First week of a new colleague: accounts, laptop, introductions, first task. | hiring, people | new hire
"""

TASKS = """
We're ready to ship 2.4 of the library, please do the needful | release-checklist
publish a new version of our package to the index | release-checklist, python-packaging
get the current main branch onto staging so QA can look at it | deploy-staging
push to staging please | deploy-staging
We have sign-off, take build 881 live for all users | deploy-production
do the canary stage for the checkout service in production | deploy-production
the rollout from ten minutes ago broke login, put the old one back | rollback
revert the deploy of the billing service | rollback
The site has been returning 503 for everyone since 14:02 | incident-response
pager went off, who do I need to wake up? | incident-response
write up what happened during yesterday's outage and what we learned | postmortem-writing
add a nullable column `locale` to the users table with 80 million rows | postgres-migration
we need a schema change that drops the legacy orders index without blocking writes | postgres-migration
the orders listing query takes 9 seconds, find out why | postgres-tuning
autovacuum can't keep up on the events table | postgres-tuning
check that last night's dump of the database can actually be restored | database-backup
users see stale prices for an hour after we change them, probably the cached keys never expire | redis-cache
expose the list of warehouses to the mobile app over REST, backend is Django | django-endpoint
start a small FastAPI project for webhooks, with a container file | fastapi-service
how do I declare optional extras in pyproject.toml and build the wheel | python-packaging
test_checkout fails about once in twenty runs on CI | pytest-flaky-tests
the suite is red only when run in random order | pytest-flaky-tests
our worker grows to 4 GB after a day, find the leak | python-profiling
where is the CPU time going in the import script | python-profiling
make a date picker in React with stories | react-component
the sidebar overlaps the content on small screens | css-layout
cover the sign-up flow with a browser test | playwright-e2e
can blind people use our checkout page? check it | accessibility-audit
contrast and keyboard navigation of the new landing page | accessibility-audit
our container is 2.1 GB, make it smaller | docker-images
run the tests on three Python versions for every push on GitHub | github-actions
cache node_modules between CI runs | github-actions
create an S3 bucket and an IAM role with Terraform | terraform-changes
someone changed the security group by hand, bring the terraform state in line | terraform-changes
why did our Amazon bill go up by 40% | aws-cost-review
the TLS certificate of api.example.org expires on Friday | dns-and-certificates
point shop.example.org to the new load balancer | dns-and-certificates
I pasted the Stripe API key into a public gist | secrets-rotation
rotate the database password in vault | secrets-rotation
update all our libraries, some are two years old | dependency-upgrades
dependabot opened 14 pull requests, get through them safely | dependency-upgrades
could an attacker read other people's orders through this endpoint? | security-review
look at PR 512 and tell me what should be better | code-review
squash these eleven wip commits into three sensible ones | git-history
it worked last month, find which commit broke the export | git-bisect
document the endpoints of our HTTP API from openapi.yaml | api-docs
nobody understands how to install this, write a proper README | readme-writing
add a line to the changelog about the new --json flag | changelog-entry
bring the German strings up to date with the English ones | translation
how many customers bought twice in the first quarter? | sql-report
get me revenue per country for May from the warehouse | sql-report
this Excel file from sales has duplicates and dates in three formats | data-cleaning
draw a graph of weekly active users with a trend line | chart-making
predict churn from these features and tell me how good it is | model-training
is prompt B really better than prompt A? compare them on our labelled examples | prompt-evaluation
load the exchange rates every night at two and retry when the API is down | airflow-dag
check the total on this supplier's PDF and book it | invoice-processing
I was in Lisbon for three days, here are my receipts | expense-report
I need to be in Berlin on the 14th, find me a train and a place to sleep | travel-booking
turn this call recording transcript into decisions and who does what | meeting-notes
answer this furious ticket about the lost parcel | customer-reply
customer wants her money back for order 8841 | refund-handling
they disputed the charge at their bank | refund-handling
I'm interviewing a backend engineer tomorrow, what do I ask | job-interview
Jonas starts on Monday, what needs to be ready | onboarding
the new helm chart fails its readiness probe on the staging cluster | deploy-staging
split this big commit before I open the merge request | git-history
write a Dockerfile that does not run as root | docker-images
review this diff for SQL injection | security-review
the flexbox footer is not centered | css-layout
go live with the new pricing service tonight | deploy-production
explain analyze shows a sequential scan, which index do we need | postgres-tuning
write end to end tests for the admin pages | playwright-e2e
localize the settings screen into Japanese | translation
we got a chargeback for invoice 77 | refund-handling
prepare the minutes of the planning call | meeting-notes
plot the latency percentiles per day | chart-making
backfill the pipeline for the first week of March | airflow-dag
what should go into a scorecard for hiring designers | job-interview
book a flight to Oslo for the conference | travel-booking
build the typescript dropdown with storybook | react-component
reserve a hotel near the office for two nights | travel-booking
train a classifier on the support tickets | model-training
give the new route proper permissions and a serializer | django-endpoint
what is the capital of Mongolia? | -
thanks, that was great! | -
tell me a joke about penguins | -
what time is it in Tokyo right now | -
explain the difference between a monad and a functor | -
rename the variable x to count in this function | -
who won the world cup in 2014 | -
convert 12 miles to kilometres | -
hello | -
yes, go ahead | -
what's the weather tomorrow | -
write a haiku about autumn | -
recommend a good science fiction novel | -
how do I cook risotto | -
sum the numbers from 1 to 100 | -
fix the typo in line 14 | -
why is the sky blue | -
can you read this file and tell me what it says | -
what did I say about my sister's birthday | -
stop | -
list the files in this directory | -
is there life on Mars | -
open the pod bay doors | -
what does this regular expression do: ^a+b$ | -
play some music | -
remind me to call my mother on Sunday | -
count the words in this paragraph | -
which of these two names sounds better for a cat | -
continue | -
how tall is Mount Everest | -
add two and two | -
make the button green | -
"""
