import type { Log } from '../log.ts';
import type { Settings, ValuesOf } from '../settings.ts';
import type { GmailConsent } from './gmail-consent.ts';
import type { MailboxNotices } from './mailbox-notices.ts';
import type { Platform } from './platform.ts';

/**
 * A platform as the server knows it: its settings, and the way to its adapter. It is cheap to load: the adapter and its
 * libraries, which take tens of MiB, are loaded where they are used.
 */
export interface PlatformDefinition<Of extends Settings = Settings, Read extends PlatformValues = PlatformValues> {
  /**
   * The operator's settings. Base addresses are among them, and never a channel's own: its owner could send Lodge's requests
   * into the host's network.
   */
  readonly settings: Of;
  /** True where the connections have a process of their own. */
  readonly isAlone?: true;
  /** Finds values that are valid alone and contradict each other. */
  disagreements?(values: ValuesOf<Of>): readonly string[];
  /** Reads the files of root that settings name. Rejects with advice to the operator. The result is JSON, and secret. */
  readAsRoot?(values: ValuesOf<Of>): Promise<Read>;
  /** Opens the adapter in a relay process; null if the operator has not set it up. */
  open(values: ValuesOf<Of> & Partial<Read>, parts: PlatformParts): Promise<Platform | null>;
  /** The way to ask for consent to an account, where there is one; null if the operator has not set it up. */
  consent?(values: ValuesOf<Of>): Promise<GmailConsent | null>;
}

/** The values of a platform's settings, and all that root has read for it. */
export type PlatformValues = Readonly<Record<string, unknown>>;

/** Dependencies that a relay gives its adapters. */
export interface PlatformParts {
  readonly notices: MailboxNotices;
  readonly log: Log;
}
