import type { ErrorCode, Scope, RuntimeKind } from '@lodge/domain';
import type { Accounts, Agents, DecideInTurn, Host, RunTurn, SignedIn, Spend } from '@lodge/engine';
import type {
  ApiKeyVerifier,
  EventStore,
  GuestAddress,
  IdempotencyStore,
  Log,
  Principal,
  SecretBox,
  UsageStore,
} from '@lodge/ports';
import type { GuestClient } from '@lodge/guest';
import type { RequestScope } from '../request-log.ts';
import type { LimitSettings } from './pipeline/limits/limits.ts';

/** How an agent's own address is made: `<scheme>://<prefix>-<id>.<domain>[:port]`. */
export interface AgentUrlSettings {
  readonly scheme: 'http' | 'https';
  readonly domain: string;
  /** The API's own host name: the one name within the domain that no agent may have. */
  readonly apiHost?: string;
  /** Null if it is the scheme's own. */
  readonly port: number | null;
  readonly prefixes: Readonly<Record<RuntimeKind, string>>;
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
}

/** How the server listens. */
export interface NetworkSettings {
  readonly maxConnections: number;
  /** Connections of one network: an IPv4 address, or the /64 of an IPv6 one. A quarter of all by default. */
  readonly maxOfNetwork?: number;
  /** Addresses and ranges whose X-Forwarded-For is believed, and whose connections count only in the total. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** In PEM; without them it speaks plain HTTP. */
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer };
}

/** For routes that name this service's own address. */
export interface Reached {
  /** Where browsers and third parties reach this service, such as `https://lodge.example.com`. Known only once it listens. */
  readonly origin: () => string;
}

/** The dependencies of the whole API. Each part names its own needs (`needs.ts`). */
export interface HttpAppOptions extends Reached {
  readonly agents: Agents;
  readonly runTurn: RunTurn;
  readonly decideInTurn: DecideInTurn;
  readonly verifier: ApiKeyVerifier;
  readonly events: EventStore;
  readonly accounts: Accounts;
  readonly spend: Spend;
  readonly usage: UsageStore;
  readonly host: Host;
  /** Without it no proxy is trusted and no other origin is allowed. */
  readonly network?: NetworkSettings;
  /** Rate limits and quotas; without them there are none. */
  readonly limits?: LimitSettings;
  /** Seals cursors, and opens the contents of model calls; without it cursors are plain and no contents are shown. */
  readonly secrets?: SecretBox;
  /** Requests by their Idempotency-Key; without it the header has no effect. */
  readonly idempotency?: IdempotencyStore;
  /** Whether the host's disk has room for kept replies; always without it. */
  readonly hasRoom?: () => boolean;
  /** Folder of the built pages; null serves the API alone. */
  readonly pages: string | null;
  /** Folder in which the site of the documents is, or will be; without it there is only the API's reference. */
  readonly documents?: string;
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
  /** How long running chat turns may go on when the server closes; 5 s by default. All other requests end at once. */
  readonly drainMs?: number;
  /** The daemon of a guest, where that is not at its usual port. */
  readonly guestAt?: (guest: GuestAddress) => GuestClient;
  /** Time without typing after which a terminal is closed; an hour by default. */
  readonly terminalIdleMs?: number;
  /** Receives the events for the operator's figures. */
  readonly metrics?: HttpMetrics;
  readonly version: string;
  readonly log: Log;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; set on every route that is not public. */
    principal: Principal;
    /** The signed-in person; set if the request came by a session. */
    me: SignedIn | undefined;
    scope: RequestScope;
  }
  interface FastifyContextConfig {
    /** Neither key nor session is needed. */
    readonly public?: true;
    /**
     * Public, by a token in its path that the route looks up itself: a request with a valid one counts against no address.
     */
    readonly ownToken?: true;
    /** The scope that an API key needs for this. Every signed-in person may do it. */
    readonly keyScope?: Scope;
    /** A 401 says where a program learns how to get access (RFC 9728): the path of the resource. */
    readonly challenges?: '/v1/mcp';
    /** Errors are written as RFC 6749 has them. */
    readonly oauthErrors?: true;
    /** Only a signed-in person may do this, with no API key. */
    readonly sessionOnly?: true;
    /** Public, but only for pages of this service, because it begins a session. */
    readonly ownPagesOnly?: true;
    /** Any one of these is enough; without any, each key or session will do. */
    readonly scopes?: readonly Scope[];
    /** The further scope that `wake=true` needs, if the route's own scopes change nothing. */
    readonly wakeScope?: Scope;
    /** Its reply holds a secret: no Idempotency-Key keeps it. */
    readonly secretReply?: true;
    /**
     * It passes requests on to other routes, with the caller's key and no session. Those are counted, and take an
     * Idempotency-Key.
     */
    readonly passesOn?: true;
    /** The body is bytes of any type. */
    readonly bytes?: true;
    /** Codes of the route's own refusals, for the reference. */
    readonly errors?: readonly ErrorCode[];
  }
}
