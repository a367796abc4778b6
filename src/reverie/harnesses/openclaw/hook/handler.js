import { spawn } from "node:child_process";

export default function handler(event) {
  const told = JSON.stringify({ agent: event.context?.agentId ?? "main" });
  const env = { ...process.env, ...launch.environment };
  spawn(launch.command, [...launch.words, told], { env, stdio: "ignore", detached: true }).on("error", () => {}).unref();
}
