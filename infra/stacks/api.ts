/** What answers requests: the gateway, a function for each route of the table of routes, and who is let in. */
import { CfnOutput, Duration, Stack, type StackProps } from "aws-cdk-lib";
import { AccessLogFormat } from "aws-cdk-lib/aws-apigateway";
import {
  ApiMapping,
  CfnAuthorizer,
  DomainName,
  HttpApi,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { Certificate } from "aws-cdk-lib/aws-certificatemanager";
import type { LogGroup } from "aws-cdk-lib/aws-logs";
import { ARecord, HostedZone, RecordTarget } from "aws-cdk-lib/aws-route53";
import { ApiGatewayv2DomainProperties } from "aws-cdk-lib/aws-route53-targets";
import type { Construct } from "constructs";
import type { Route } from "../../shared/api/route.ts";
import { allRoutes } from "../../shared/api/routes.ts";
import { ENDPOINT_SECONDS_MAX, type Settings } from "../config.ts";
import { type Data, type Deployment, nameOf } from "../constructs/deployment.ts";
import { type Authorizers, BASE_PATH, Endpoint, NO_AUTHORIZER } from "../constructs/endpoint.ts";
import { exception } from "../constructs/exception.ts";
import { ServiceFunction } from "../constructs/function.ts";
import { logGroup } from "../constructs/log-group.ts";
import { needsOf } from "../needs.ts";
import { WORKERS } from "../workers.ts";

const MEMORY_MB = 1024;
/** Bodies of 20 MiB are inflated and parsed, or a large file is read. */
const LARGE_MEMORY_MB = 2048;
const LARGE: ReadonlySet<string> = new Set(["set-impacted-targets", "upload-test-results"]);

/** A revoked token opens doors for so long. */
const CACHED = Duration.seconds(60);

/** Who asked what and was answered what; no header is among it, so no token. */
const ACCESS_LOG = {
  requestId: "$context.requestId",
  time: "$context.requestTime",
  ip: "$context.identity.sourceIp",
  method: "$context.httpMethod",
  path: "$context.path",
  route: "$context.routeKey",
  status: "$context.status",
  bytes: "$context.responseLength",
  ms: "$context.responseLatency",
  functionMs: "$context.integrationLatency",
  gatewayError: "$context.error.message",
  functionError: "$context.integrationErrorMessage",
  authorizerError: "$context.authorizer.error",
  org: "$context.authorizer.org",
  tokenId: "$context.authorizer.tokenId",
} as const;

export class ApiStack extends Stack {
  readonly api: HttpApi;
  readonly authorizer: ServiceFunction;
  readonly accessLog: LogGroup;
  readonly endpoints: ReadonlyMap<string, ServiceFunction>;

  constructor(scope: Construct, id: string, deployment: Deployment, data: Data, props: StackProps) {
    super(scope, id, props);
    this.api = new HttpApi(this, "Api", { apiName: nameOf(deployment), createDefaultStage: false });
    // The names of such a log group stand in a policy of limited length, except below this prefix.
    this.accessLog = logGroup(this, "AccessLog", deployment, `/aws/vendedlogs/${nameOf(deployment, "api")}`);
    const stage = this.makeStage(deployment);
    this.authorizer = this.makeAuthorizer(deployment, data);
    const authorizers = this.makeAuthorizers(deployment);
    const endpoints = new Map<string, ServiceFunction>();
    for (const route of allRoutes) endpoints.set(route.id, this.endpoint(deployment, data, authorizers, route).service);
    endpoints.set("unknown-path", this.unknownPath(deployment, data));
    this.leaveOutEmptySources();
    this.endpoints = endpoints;
    const { domain } = deployment.settings;
    const host = domain === undefined ? `${this.api.apiId}.execute-api.${this.region}.${this.urlSuffix}` : domain.name;
    if (domain !== undefined) this.useDomain(domain, stage);
    new CfnOutput(this, "Address", { value: `https://${host}${BASE_PATH}` });
  }

  private makeStage({ settings }: Deployment): HttpStage {
    const { requestsPerSecond, burst } = settings.throttling;
    const stage = new HttpStage(this, "Stage", {
      httpApi: this.api,
      stageName: "$default",
      autoDeploy: true,
      throttle: { rateLimit: requestsPerSecond, burstLimit: burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(this.accessLog),
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG)),
      },
    });
    exception(stage, "Serverless-APIGWXrayEnabled", "An HTTP API cannot be traced; every function behind it is.");
    return stage;
  }

  private makeAuthorizer(deployment: Deployment, data: Data): ServiceFunction {
    const worker = WORKERS.find(({ trigger }) => trigger.kind === "authorizer");
    if (worker === undefined) throw new Error("there is no authorizer among the workers");
    const { name, timeoutSeconds, memoryMb } = worker;
    return new ServiceFunction(this, name, {
      deployment,
      data,
      folder: "workers",
      name,
      needs: needsOf(name),
      timeoutSeconds,
      memoryMb,
    });
  }

  /** Two of one function: a request without a token is refused by the gateway, except where a fork may send none. */
  private makeAuthorizers(deployment: Deployment): Authorizers {
    const common = { responseTypes: [HttpLambdaResponseType.SIMPLE] };
    const { fn } = this.authorizer;
    return {
      token: new HttpLambdaAuthorizer("Token", fn, {
        ...common,
        authorizerName: nameOf(deployment, "token"),
        identitySource: ["$request.header.x-api-token"],
        resultsCacheTtl: CACHED,
      }),
      "token-or-fork": new HttpLambdaAuthorizer("TokenOrFork", fn, {
        ...common,
        authorizerName: nameOf(deployment, "token-or-fork"),
        identitySource: [],
        resultsCacheTtl: Duration.seconds(0),
      }),
      none: NO_AUTHORIZER,
    };
  }

  /** An authorizer without an identity source has none, which is not the same to everybody as an empty list of them. */
  private leaveOutEmptySources(): void {
    for (const one of this.node.findAll())
      if (one instanceof CfnAuthorizer && one.identitySource?.length === 0)
        one.addPropertyDeletionOverride("IdentitySource");
  }

  private endpoint(deployment: Deployment, data: Data, authorizers: Authorizers, route: Route): Endpoint {
    return new Endpoint(this, route.id, {
      deployment,
      data,
      api: this.api,
      route,
      authorizers,
      needs: needsOf(route.id),
      timeoutSeconds: ENDPOINT_SECONDS_MAX,
      memoryMb: LARGE.has(route.id) ? LARGE_MEMORY_MB : MEMORY_MB,
    });
  }

  private unknownPath(deployment: Deployment, data: Data): ServiceFunction {
    const service = new ServiceFunction(this, "unknown-path", {
      deployment,
      data,
      folder: "api",
      name: "unknown-path",
      needs: needsOf("unknown-path"),
      timeoutSeconds: 5,
      memoryMb: 256,
    });
    const route = new HttpRoute(this, "Default", {
      httpApi: this.api,
      routeKey: HttpRouteKey.DEFAULT,
      integration: new HttpLambdaIntegration("UnknownPath", service.fn),
      authorizer: NO_AUTHORIZER,
    });
    exception(route, "AwsSolutions-APIG4", "Says which paths there are, and knows nothing else.");
    return service;
  }

  private useDomain({ name, certificateArn, hostedZone }: NonNullable<Settings["domain"]>, stage: HttpStage): void {
    const domain = new DomainName(this, "Domain", {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, "Certificate", certificateArn),
    });
    new ApiMapping(this, "Mapping", { api: this.api, domainName: domain, stage });
    new CfnOutput(this, "DomainTarget", { value: domain.regionalDomainName });
    if (hostedZone === undefined) return;
    const { id, name: zoneName } = hostedZone;
    const zone = HostedZone.fromHostedZoneAttributes(this, "Zone", { hostedZoneId: id, zoneName });
    const target = new ApiGatewayv2DomainProperties(domain.regionalDomainName, domain.regionalHostedZoneId);
    new ARecord(this, "Alias", { zone, recordName: `${name}.`, target: RecordTarget.fromAlias(target) });
  }
}
