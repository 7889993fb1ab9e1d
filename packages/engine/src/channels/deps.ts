import type {
  ChannelCheck,
  ChannelFiles,
  ChannelStore,
  ChannelTurns,
  GmailConsent,
  GuestFiles,
  Log,
  OAuthSessionStore,
  SecretBox,
} from '@lodge/ports';
import type { Agents } from '../agents/agents.ts';
import type { AnsweringBounds } from './answering/bounds.ts';

/** What messaging channels stand on. */
export interface ChannelParts {
  readonly store: ChannelStore;
  readonly turns: ChannelTurns;
  /** Bytes on their way, on this host. */
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly check: ChannelCheck;
  readonly oauthSessions: OAuthSessionStore;
  /** Null: the operator has given no Google client. */
  readonly gmail: GmailConsent | null;
  readonly bounds?: Partial<AnsweringBounds>;
}

/** What the owner's use-cases stand on. */
export interface ChannelsDeps extends Omit<ChannelParts, 'turns' | 'files' | 'guestFiles' | 'bounds'> {
  readonly agents: Pick<Agents, 'get'>;
  readonly secrets: SecretBox;
  readonly log: Log;
}
