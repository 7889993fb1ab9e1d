import type { ConnectionConsent, ConnectionGrants, ConnectionStore } from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import type { ConsentSessions } from '../consents/sessions.ts';

export interface ConnectionConsentAsk {
  readonly redirectUri: string;
  readonly returnUrl: string | null;
  /** Scope of this consent; null: the connection's own. */
  readonly scope: string | null;
}

export interface ConnectionConsentEnd {
  readonly agentId: string;
  readonly connection: string;
  /** The page that the person goes to next; null: none. */
  readonly returnUrl: string | null;
}

export interface ConnectionsDeps extends ConsentSessions {
  readonly agents: Pick<Agents, 'get'>;
  readonly store: ConnectionStore;
  readonly grants: ConnectionGrants;
  readonly consent: ConnectionConsent;
  /** Whether connections may lead to any address, and so without TLS. */
  readonly anyAddress: boolean;
}
