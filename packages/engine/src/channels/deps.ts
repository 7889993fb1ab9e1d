import type { ChannelCheck, ChannelFiles, GmailConsent, GuestFiles, Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import type { Database } from '@lodge/store/database';
import type { Agents } from '../agents/agents.ts';
import type { AnsweringBounds } from './answering/bounds.ts';

/** Dependencies of messaging channels. */
export interface ChannelParts {
  /** Files in transit on this host. */
  readonly files: ChannelFiles;
  readonly guestFiles: GuestFiles;
  readonly check: ChannelCheck;
  /** Null if the operator has configured no Google client. */
  readonly gmail: GmailConsent | null;
  readonly bounds?: Partial<AnsweringBounds>;
}

/** Dependencies of the owner's use-cases. */
export interface ChannelsDeps extends Pick<ChannelParts, 'check' | 'gmail'> {
  readonly database: Database;
  /** Calls back with what changed on a topic in any process. */
  readonly changes: Store['changes'];
  readonly agents: Pick<Agents, 'get'>;
  readonly secrets: SecretBox;
  readonly log: Log;
}
