import { HttpMethod, HttpNoneAuthorizer, type HttpApi, type IHttpRouteAuthorizer } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Construct } from "constructs";
import type { Route } from "../../shared/api/route.ts";
import { exception } from "./exception.ts";
import { ServiceFunction, type ServiceFunctionProps } from "./function.ts";

export const BASE_PATH = "/v1";

/** By what `auth` of the route says. */
export type Authorizers = Readonly<Record<Route["auth"], IHttpRouteAuthorizer>>;
export const NO_AUTHORIZER = new HttpNoneAuthorizer();

export type EndpointProps = Omit<ServiceFunctionProps, "folder" | "name"> & {
  readonly api: HttpApi;
  readonly route: Pick<Route, "id" | "method" | "path" | "auth" | "body">;
  readonly authorizers: Authorizers;
};

/** Why nobody needs a token. */
const OPEN = {
  plain: "Open by design: it shows nothing of anybody's, and touches no table.",
  xml: "Open by design: it shows nothing of anybody's, and touches no table.",
  signed:
    "Whoever calls it has no token: what it sends is signed, and nothing is done before the signature is checked.",
} as const;

/** A route of the gateway and its function. */
export class Endpoint extends Construct {
  readonly service: ServiceFunction;

  constructor(scope: Construct, id: string, { api, route, authorizers, ...props }: EndpointProps) {
    super(scope, id);
    this.service = new ServiceFunction(this, "Service", { ...props, folder: "api", name: route.id });
    const [made] = api.addRoutes({
      path: `${BASE_PATH}${route.path}`,
      methods: [route.method === "GET" ? HttpMethod.GET : HttpMethod.POST],
      integration: new HttpLambdaIntegration("Integration", this.service.fn),
      authorizer: authorizers[route.auth],
    });
    if (made !== undefined && route.auth === "none") exception(made, "AwsSolutions-APIG4", OPEN[route.body ?? "plain"]);
  }
}
