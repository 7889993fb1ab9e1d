import { TokenBuckets } from '@lodge/domain';
import { createOutbound, ofNameServers } from '@lodge/egress';
import type { Outbound } from '@lodge/egress';
import type {
  AgentLogWriter,
  Authority,
  CallGuard,
  ConnectionConsent,
  ConnectionDirectory,
  ConnectionGrants,
  ConnectionRow,
  Log,
  MakeCall,
  SecretBox,
  ClientDocuments,
} from '@lodge/ports';
import { Budget } from './budget.ts';
import { defaultCallBounds, defaultHostBounds, defaultMcpBounds, defaultOAuthBounds } from './bounds.ts';
import type { CallBounds, HostBounds, McpBounds, OAuthBounds } from './bounds.ts';
import { CallLog } from './call-log.ts';
import { createDoor } from './door.ts';
import type { ConnectionDoor } from './door.ts';
import { HostCertificates } from './host/certificates.ts';
import { createHostDoor } from './host/door.ts';
import type { SecureDoor } from './host/door.ts';
import { sendStoredToHost } from './host/confirmed.ts';
import type { HostWay } from './host/forward.ts';
import { ConnectionTools } from './mcp/source.ts';
import type { ClosableToolSource } from './mcp/source.ts';
import { createClientDocuments } from './oauth/client-documents.ts';
import { createConsent } from './oauth/consent.ts';
import { Renewals } from './oauth/renewals.ts';
import { makeStored, sendStored } from './http/confirmed.ts';
import type { ConfirmedDeps } from './http/confirmed.ts';
import { CredentialBook } from './secret/credentials.ts';

export interface ConnectionOptions {
  readonly directory: ConnectionDirectory;
  readonly grants: ConnectionGrants;
  readonly secrets: SecretBox;
  readonly logs: AgentLogWriter;
  readonly log: Log;
  /** Asks owners about calls; without it those that need a yes are refused. */
  readonly guard?: CallGuard;
  /** `public` allows only HTTPS to public addresses, checked at connect. */
  readonly addresses: 'public' | 'any';
  /** HTTP proxy for public servers. */
  readonly egressProxy: string | null;
  /** Name servers as addresses with ports; with null the host's are used. */
  readonly nameServers?: readonly string[] | null;
  readonly callBounds?: Partial<CallBounds>;
  readonly mcpBounds?: Partial<McpBounds>;
  readonly oauthBounds?: Partial<OAuthBounds>;
  readonly hostBounds?: Partial<HostBounds>;
  /** The authority for hosts of connections. */
  readonly authority: () => Promise<Authority>;
  /** The way to hosts of connections; by default that of all. */
  readonly hostOutbound?: Outbound;
}

export interface ConnectionParts {
  readonly door: ConnectionDoor;
  readonly hostDoor: SecureDoor;
  readonly tools: ClosableToolSource;
  /** Makes stored calls of connections. */
  readonly make: MakeCall;
  readonly consent: ConnectionConsent;
  /** Documents of OAuth clients of Lodge's own authorization server. */
  readonly clientDocuments: ClientDocuments;
  /** Ends sessions and work in progress, once nobody calls any more. */
  close(): Promise<void>;
}

export function openConnections(options: ConnectionOptions): ConnectionParts {
  const { directory, grants, log } = options;
  const bounds = { ...defaultCallBounds, ...options.callBounds };
  const outbound = createOutbound(bounds.connectMs, options.egressProxy, ofNameServers(options.nameServers ?? null));
  const privateAddresses = options.addresses === 'any';
  const perSecond = bounds.callsPerMinute / 60;
  const calls = new CallLog(options.logs, log);
  const shared = {
    directory,
    credentials: new CredentialBook(options.secrets),
    rate: new TokenBuckets({ perSecond, burst: bounds.callsPerMinute / 2 }, 100_000),
    calls,
    outbound,
    privateAddresses,
    ...(options.guard && { guard: options.guard }),
    budget: new Budget(bounds),
    async echoed({ agentId, name: connection, revision }: ConnectionRow): Promise<void> {
      try {
        await directory.echoed({ agentId, connection, revision });
      } catch (error) {
        log.error(
          { err: error, agent_id: agentId, connection },
          'an answer with a credential was refused and not counted',
        );
      }
    },
  };
  const oauth = { outbound, privateAddresses, bounds: { ...defaultOAuthBounds, ...options.oauthBounds } };
  const renewals = new Renewals({ ...oauth, directory, grants, credentials: shared.credentials, log });
  const logins = { credentials: shared.credentials, renewals, grants, leastAgeMs: oauth.bounds.leastAgeMs };
  const door = createDoor({ ...shared, logins, bounds });
  const hostBounds = { ...defaultHostBounds, ...options.hostBounds };
  const toHosts = {
    ...shared,
    logins,
    outbound: options.hostOutbound ?? outbound,
    bounds: { ...bounds, ...hostBounds },
  };
  const hostDoor = createHostDoor({ ...toHosts, certificates: new HostCertificates(options.authority) });
  const mcpBounds = { ...defaultMcpBounds, ...options.mcpBounds };
  const tools = new ConnectionTools({ ...shared, logins, log, bounds: mcpBounds });
  return {
    door,
    hostDoor,
    tools,
    make: makerOf(tools, { ...shared, logins, bounds }, toHosts),
    consent: createConsent(oauth),
    clientDocuments: createClientDocuments(oauth),
    async close() {
      await renewals.close();
      await tools.close();
      await outbound.close();
      await calls.close();
    },
  };
}

const makerOf =
  (tools: Pick<ConnectionTools, 'make'>, toServices: ConfirmedDeps, toHosts: HostWay): MakeCall =>
  async (agent, call, signal) => {
    if (call.kind === 'mcp') return tools.make(agent, call, signal);
    if (call.kind === 'http') return makeStored(toServices, agent, call, sendStored(toServices, call, signal));
    if (call.kind === 'host') return makeStored(toServices, agent, call, sendStoredToHost(toHosts, call, signal));
    return { outcome: 'failed', text: 'This is no call of a connection.' };
  };
