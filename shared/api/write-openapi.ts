/** `node shared/api/write-openapi.ts` writes the document; with `--check` it fails where the committed one differs. */
import { readFileSync, writeFileSync } from "node:fs";
import { openApi } from "./openapi.ts";

const FILE = new URL("openapi.json", import.meta.url);

const text = `${JSON.stringify(openApi(), null, 2)}\n`;

if (!process.argv.includes("--check")) writeFileSync(FILE, text);
else if (readFileSync(FILE, "utf8") !== text) {
  process.stderr.write(
    "shared/api/openapi.json is not what the route table says: run npm run openapi and commit it.\n",
  );
  process.exitCode = 1;
}
