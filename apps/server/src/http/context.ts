import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode, Scope } from '@lodge/contract';
import type { RuntimeKind } from '@lodge/domain';
import type { Agents } from '@lodge/engine';
import type {
  AgentPortStore,
  AgentVisits,
  ApiKeyVerifier,
  AuditLog,
  IdempotencyStore,
  Log,
  OwnAccounts,
  Principal,
  SecretBox,
  UsageStore,
} from '@lodge/engine/ports';
import type { GuestClient } from '@lodge/guest';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { RequestScope } from '../request-log.ts';
import type { AccountArea } from './account/area.ts';
import type { Cursors } from './cursors.ts';
import type { LimitSettings, Limits } from './limits/limits.ts';
import type { GatewayClient } from './chat/gateway.ts';

/** How an agent's own address is made: `<scheme>://<prefix>-<id>.<domain>[:port]`. */
export interface AgentUrlSettings {
  readonly scheme: 'http' | 'https';
  readonly domain: string;
  /** The API's own host name: the one name within the domain that may be no agent's. */
  readonly apiHost?: string;
  /** Null where it is the scheme's own. */
  readonly port: number | null;
  readonly prefixes: Readonly<Record<RuntimeKind, string>>;
}

export interface AgentPlaces {
  readonly ports: AgentPortStore;
  readonly visits: AgentVisits;
}

/** Whether agents can be started; `step` says what the start is doing, in public words. */
export interface Readiness {
  readonly ready: boolean;
  readonly step: string | null;
}

export interface HttpMetrics {
  /** `route` is its pattern; null where none matched. */
  replied(reply: {
    readonly method: string;
    readonly route: string | null;
    readonly status: number;
    readonly ms: number;
  }): void;
  /** Gives what to call when the turn has ended. */
  chatBegan(): () => void;
}

/** How the server listens. */
export interface NetworkSettings {
  readonly maxConnections: number;
  /** Addresses and ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** In PEM; without them it speaks plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
}

export interface HttpAppOptions {
  readonly agents: Agents;
  readonly verifier: ApiKeyVerifier;
  readonly audit: AuditLog;
  readonly accounts: OwnAccounts;
  /** What of agents is served under their own addresses, and to whom. */
  readonly places: AgentPlaces;
  readonly usage: Pick<UsageStore, 'report' | 'knows' | 'calls' | 'call'>;
  /** Nobody is trusted and no other origin is let in where it is not given. */
  readonly network?: NetworkSettings;
  /** Rate limits and quotas; without them there are none. */
  readonly limits?: LimitSettings;
  /** Seals cursors, and opens what was said in model calls; without it cursors go out as they are and nothing is told of calls. */
  readonly secrets?: SecretBox;
  /** Requests by their Idempotency-Key; without it the header says nothing. */
  readonly idempotency?: IdempotencyStore;
  /** The account area's API; without it there is none. */
  readonly account?: AccountArea;
  /** Rejects when the service cannot serve at all: its database does not answer. */
  readonly ready: () => Promise<Readiness> | Readiness;
  readonly agentUrl: AgentUrlSettings;
  /** How long a create waits for the agent to run before it answers 202. */
  readonly createWaitMs: number;
  /** How long a lifecycle verb waits for its goal before it answers 202, and a chat for its agent to wake. */
  readonly lifecycleWaitMs: number;
  /** Bound on one chat turn. */
  readonly chatTimeoutMs: number;
  /** A stream that was silent this long gets a comment line; 10 s by default, the contract wants at most 15 s. */
  readonly chatSilenceMs?: number;
  /** The same for a stream of log entries. */
  readonly logSilenceMs?: number;
  /** Chat turns under way may take this long when the server closes; 5 s by default. All else ends at once then. */
  readonly drainMs?: number;
  /** The daemon of the guest at an address, where that is not at its usual port. */
  readonly guestAt?: (address: string) => GuestClient;
  /** A terminal whose client types nothing for so long is closed; an hour by default. */
  readonly terminalIdleMs?: number;
  /** Told what happens, for the operator's figures. */
  readonly metrics?: HttpMetrics;
  readonly version: string;
  readonly log: Log;
}

/** What routes work with. */
export interface HttpContext extends HttpAppOptions {
  readonly guestAt: (address: string) => GuestClient;
  readonly gateway: GatewayClient;
  readonly limiter: Limits | null;
  readonly cursors: Cursors;
  /** Aborts when the server begins to close: waits and log streams end then. */
  readonly closing: AbortSignal;
  /** Aborts when the server has waited long enough for chat turns under way. */
  readonly cut: AbortSignal;
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; set on every route that is not public. */
    principal: Principal;
    scope: RequestScope;
  }
  interface FastifyContextConfig {
    /** No key is needed. */
    readonly public?: true;
    /** Any one of these is enough; none given: any key will do. */
    readonly scopes?: readonly Scope[];
    /** What `wake=true` takes beside, where the route's own scopes change nothing. */
    readonly wakeScope?: Scope;
    /** Its reply holds a secret: no Idempotency-Key keeps it. */
    readonly secretReply?: true;
    /** The body is bytes of any type. */
    readonly bytes?: true;
    /** Codes of the route's own refusals, for the reference. */
    readonly errors?: readonly ErrorCode[];
  }
}
