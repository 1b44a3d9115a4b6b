import { afterAll, beforeAll, it } from "vitest";
import { aService, type LocalService } from "../support/service.ts";
import { manySubmitted } from "./many-submitted.ts";

let service: LocalService;
beforeAll(async () => {
  service = await aService();
});
afterAll(() => service.stop());

it("a hundred that submit a hundred PRs: a hundred entries, none lost, and all end", async () => {
  await manySubmitted(service, 100, 25);
});
