import { testHealthRoutes } from "../../shared/api/test-health-routes.ts";
import { ok } from "../../shared/kernel/result.ts";
import { linkTicket } from "../../shared/test-health/app/tests.ts";
import { healthSide } from "../health-side.ts";
import { serve } from "../serve.ts";
import { repositoryOf, ticketUrl } from "../test-health.ts";

export const handler = serve(
  testHealthRoutes["link-ticket-to-test-case"],
  healthSide,
  async ({ input, principal }, app) => {
    const of = repositoryOf(principal.org, input);
    if (!of.ok) return of;
    const ticket = input.ticket_url ?? input.external_ticket_id ?? "";
    const done = await linkTicket(app, of.value, input.test_case_id, ticket);
    if (!done.ok) return done;
    const settings = await app.health.settings(of.value);
    return ok({ test_case_id: input.test_case_id, ticket: { html_url: ticketUrl(settings, ticket) } });
  },
);
