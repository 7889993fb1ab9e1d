/** `RelayStore` as a relay sees it: secrets are in the clear, and the process that has the key seals and opens them. */
import type { ChannelFiles } from './channel-turns.ts';
import type { ChannelSecrets, ConnectionState, InboundMessage } from './platform.ts';
import type { Lease, LeaseRef, RelayStore } from './relay-store.ts';

/** Its secrets are never logged. */
export interface OpenedLease extends Omit<Lease, 'credentials'> {
  /** Null when the stored credentials do not open. */
  readonly credentials: ChannelSecrets | null;
}

/** Methods over all channels, which a relay may not call. */
type Changed = 'acquire' | 'changed' | 'keep' | 'vaultGet' | 'vaultSet';
type OfAll = 'wanted' | 'failUnsent' | 'unneededFiles' | 'prune';

export interface OpenedRelayStore extends Omit<RelayStore, Changed | OfAll> {
  acquire(options: Parameters<RelayStore['acquire']>[0]): Promise<readonly OpenedLease[]>;
  /** As in `RelayStore`; `code` is JSON. */
  changed(
    lease: LeaseRef,
    state: ConnectionState,
    code: string | null,
    accountKey?: string,
  ): Promise<boolean | 'conflict'>;
  keep(lease: LeaseRef, credentials: ChannelSecrets): Promise<void>;
  vaultGet(lease: LeaseRef, type: string, ids: readonly string[]): Promise<Readonly<Record<string, string>>>;
  vaultSet(
    lease: LeaseRef,
    values: readonly { readonly type: string; readonly id: string; readonly value: string | null }[],
    messages?: readonly InboundMessage[],
  ): Promise<void>;
}

/** Files in transit, as a relay sees them. A relay removes only files that it wrote itself. */
export type RelayFiles = Pick<ChannelFiles, 'read' | 'write' | 'remove'>;
