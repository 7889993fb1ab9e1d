/** `RelayStore` as a relay sees it: secrets are in the clear, and whoever has the key seals and opens them. */
import type { ChannelFiles } from './channel-turns.ts';
import type { ChannelSecrets, ConnectionState, InboundMessage } from './platform.ts';
import type { Lease, LeaseRef, RelayStore } from './relay-store.ts';

/** Secrets of it are never logged. */
export interface OpenedLease extends Omit<Lease, 'credentials'> {
  /** Null: what is stored does not open. */
  readonly credentials: ChannelSecrets | null;
}

/** What is done for all channels is not a relay's. */
type Changed = 'acquire' | 'changed' | 'keep' | 'vaultGet' | 'vaultSet';
type OfAll = 'wanted' | 'failUnsent' | 'unneededFiles' | 'prune';

export interface OpenedRelayStore extends Omit<RelayStore, Changed | OfAll> {
  acquire(options: Parameters<RelayStore['acquire']>[0]): Promise<readonly OpenedLease[]>;
  /** As of `RelayStore`; `code` is JSON. */
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

/** Files on their way, as a relay sees them: it removes only what it has written itself. */
export type RelayFiles = Pick<ChannelFiles, 'read' | 'write' | 'remove'>;
