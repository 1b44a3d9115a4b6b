import { test } from "vitest";
import { sharedTable } from "../../support/table.ts";
import { equalARecount } from "./recounted.ts";

test("rates, pull requests, commonest failures and the list itself equal a recount from the files", async () => {
  await equalARecount(await sharedTable(), 4);
});
