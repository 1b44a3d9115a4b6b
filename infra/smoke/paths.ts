/** Paths, methods, queries: what a gateway may decode, tidy up or answer itself. */
import { type Check, outcome, refused, succeeded, told } from "./check.ts";

export const paths: readonly Check[] = [
  {
    name: "an unknown path",
    run: async ({ send }) => refused(await send("/no-such-endpoint", { method: "GET" }), 404, "UNKNOWN_PATH"),
  },
  {
    name: "a known path, another method",
    run: async ({ send }) => {
      const reply = await send("/getQueue", { method: "GET" });
      const said = refused(reply, 405, "METHOD_NOT_ALLOWED");
      const { allow } = reply.headers;
      return said.verdict === "pass" && allow !== "POST" ? outcome("fail", `Allow: ${allow ?? "none"}`) : said;
    },
  },
  {
    name: "a repeated slash",
    run: async ({ send, token, scratch }) => {
      const headers = { "content-type": "application/json", "x-api-token": token };
      const reply = await send("//getQueue", { headers, body: JSON.stringify(scratch) });
      const { location = "" } = reply.headers;
      if (reply.status === 308 && location.endsWith("/v1/getQueue")) return outcome("pass", `308 to ${location}`);
      // Clients get where they meant to either way.
      if (reply.status === 200) return outcome("note", "200: it takes two slashes for one, and nothing is redirected");
      return outcome("fail", `${told(reply)}; expected 308 to /v1/getQueue`);
    },
  },
  {
    name: "a letter of the path as a percent sign and digits",
    run: async ({ send, token, scratch, where }) => {
      const headers = { "content-type": "application/json", "x-api-token": token };
      const reply = await send("/%67etQueue", { headers, body: JSON.stringify(scratch) });
      if (where === "local") return succeeded(reply, ": it is decoded before the path is looked up");
      return outcome(reply.status < 500 ? "note" : "fail", `this gateway answers ${told(reply)}`);
    },
  },
  {
    name: "a query that is percent-encoded, and a branch with # and é in the answer",
    run: async ({ send, token, scratch }) => {
      const { host, owner, name } = scratch.repo;
      const query = `repo=${encodeURIComponent(`${owner}/${name}`)}&repoHost=${encodeURIComponent(host)}`;
      const reply = await send(`/getMergeQueueMetrics?${query}`, { method: "GET", headers: { "x-api-token": token } });
      if (reply.status !== 200) return outcome("fail", told(reply));
      const isThere =
        reply.text.includes("mq_depth_current{") && reply.text.includes(`branch="${scratch.targetBranch}"`);
      return isThere ? succeeded(reply) : outcome("fail", "200, without the scratch queue's series");
    },
  },
  {
    name: "metrics are plain text as Prometheus reads it",
    run: async ({ send, token }) => {
      const reply = await send("/getMergeQueueMetrics", { method: "GET", headers: { "x-api-token": token } });
      const type = reply.headers["content-type"] ?? "none";
      return type.startsWith("text/plain; version=0.0.4") ? succeeded(reply) : outcome("fail", `content-type: ${type}`);
    },
  },
];
