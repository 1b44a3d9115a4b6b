import { noTests } from "../../shared/http/no-tests.ts";
import { serve } from "../serve.ts";

export const handler = serve("list-failing-tests", async ({ input, principal }) => noTests(input, principal));
