/**
 * A relay's store with secrets in the clear, over the database's, where they lie sealed. The holder of the key keeps it: a
 * relay that is a separate process reaches this store over a channel, and never has the key.
 */
import { channelCredentialContext, channelPairingContext, channelVaultContext } from '@lodge/ports';
import type { ChannelSecrets, Lease, LeaseRef, OpenedRelayStore, RelayStore, SecretBox } from '@lodge/ports';

export function openedStore(store: RelayStore, secrets: SecretBox): OpenedRelayStore {
  const vault = ({ agentId, channel }: LeaseRef, type: string, id: string): string =>
    channelVaultContext(agentId, channel, type, id);
  return {
    async acquire(options) {
      const leases = await store.acquire(options);
      return leases.map((lease) => ({ ...lease, credentials: openCredentials(lease, secrets) }));
    },
    changed(lease, state, code, accountKey) {
      const sealed = code === null ? null : secrets.seal(code, channelPairingContext(lease.agentId, lease.channel));
      return store.changed(lease, state, sealed, accountKey);
    },
    keep(lease, credentials) {
      const { agentId, channel } = lease;
      return store.keep(
        lease,
        mapped(credentials, (value, name) => secrets.seal(value, channelCredentialContext(agentId, channel, name))),
      );
    },
    async vaultGet(lease, type, ids) {
      const sealed = await store.vaultGet(lease, type, ids);
      return mapped(sealed, (value, id) => secrets.open(value, vault(lease, type, id)));
    },
    vaultSet(lease, values, messages) {
      const sealed = values.map(({ type, id, value }) => ({
        type,
        id,
        sealed: value === null ? null : secrets.seal(value, vault(lease, type, id)),
      }));
      return store.vaultSet(lease, sealed, messages);
    },
    renew: (...given) => store.renew(...given),
    release: (...given) => store.release(...given),
    receive: (...given) => store.receive(...given),
    admits: (...given) => store.admits(...given),
    press: (...given) => store.press(...given),
    moveTo: (...given) => store.moveTo(...given),
    faulted: (...given) => store.faulted(...given),
    vaultClear: (...given) => store.vaultClear(...given),
    filesToFetch: (...given) => store.filesToFetch(...given),
    fetched: (...given) => store.fetched(...given),
    partsToSend: (...given) => store.partsToSend(...given),
    split: (...given) => store.split(...given),
    sending: (...given) => store.sending(...given),
    sent: (...given) => store.sent(...given),
    sendLater: (...given) => store.sendLater(...given),
    sendFailed: (...given) => store.sendFailed(...given),
    working: (...given) => store.working(...given),
    progress: (...given) => store.progress(...given),
    posted: (...given) => store.posted(...given),
    unposted: (...given) => store.unposted(...given),
    onWork: (...given) => store.onWork(...given),
  };
}

function openCredentials({ agentId, channel, credentials }: Lease, secrets: SecretBox): ChannelSecrets | null {
  try {
    return mapped(credentials, (sealed, name) =>
      secrets.open(sealed, channelCredentialContext(agentId, channel, name)),
    );
  } catch {
    return null;
  }
}

const mapped = (
  values: Readonly<Record<string, string>>,
  change: (value: string, name: string) => string,
): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
