import { spawn } from "node:child_process";

export const Reverie = async () => ({
  event: async ({ event }) => {
    if (event.type !== "session.idle") return;
    const told = JSON.stringify({ session: event.properties.sessionID });
    const env = { ...process.env, ...launch.environment };
    spawn(launch.command, [...launch.words, told], { env, stdio: "ignore", detached: true }).on("error", () => {}).unref();
  },
});
