/** Options of a Lodge beside its configuration. */
import type { ConnectionOptions } from '@lodge/connections';
import type { RuntimeKind } from '@lodge/domain';
import type { ConfirmationParts, EngineDeps, HookParts, TemplateProgress } from '@lodge/engine';
import type { GuestClient } from '@lodge/guest';
import type { AgentRuntime, GmailConsent, GuestAddress, Log } from '@lodge/ports';
import type { AppOptions } from './http/app.ts';
import type { Host } from './machine-host/host.ts';

export interface LodgeOptions {
  readonly log: Log;
  /** The parts that a machine host hands over or opens the way to. */
  readonly host: Host;
  /** The runtimes that can run in guests; by default every one that Lodge has. */
  readonly runtimes?: ReadonlyMap<RuntimeKind, AgentRuntime>;
  readonly onTemplateProgress?: (progress: TemplateProgress) => void;
  /** The daemon of a guest, if it is not at its usual port. */
  readonly guestAt?: (guest: GuestAddress) => GuestClient;
  /** Asks for consent to a mailbox; by default Google, if the operator has a client there. */
  readonly gmail?: GmailConsent;
  /** False: nobody looks for weaknesses of this host, which takes a process or two. */
  readonly looksAtHost?: boolean;
  /** Bounds that no setting changes, for tests that cannot wait for the usual ones. */
  readonly bounds?: LodgeBounds;
  /** Returns the API's parts from the usual ones, for tests that measure a part or set a bound of it. */
  readonly api?: (usual: AppOptions) => AppOptions;
}

export interface LodgeBounds {
  /** The clock of accounts: of sessions, links and codes. */
  readonly accountsClock?: () => Date;
  readonly hooks?: HookParts['bounds'];
  readonly confirmations?: ConfirmationParts['bounds'];
  readonly work?: EngineDeps['work'];
  readonly snapshotsEveryMs?: number;
  readonly oauth?: ConnectionOptions['oauthBounds'];
}
