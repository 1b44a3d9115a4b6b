import type { APIGatewayEventRequestContextV2, APIGatewayProxyEventV2WithRequestContext, Context } from "aws-lambda";

/** API Gateway's HTTP API event, payload format 2.0; `lambda` is whatever the authorizer answered. */
export type ApiEvent = APIGatewayProxyEventV2WithRequestContext<
  APIGatewayEventRequestContextV2 & { authorizer?: { lambda?: unknown } }
>;

export type Answer = {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type ApiHandler = (event: ApiEvent, context: Context) => Promise<Answer>;

/** Header names arrive in lower case in this format. */
export const header = (event: ApiEvent, name: string): string | undefined => event.headers[name];

/** Of whoever is connected, which may be a proxy: what it says of others is not believed. */
export const addressOf = (event: ApiEvent): string => event.requestContext.http.sourceIp;

export const requestIdOf = (event: ApiEvent): string => event.requestContext.requestId;
