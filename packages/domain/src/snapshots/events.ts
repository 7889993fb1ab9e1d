import { kind, quiet, told } from '../events/kind.ts';
import { duration } from '../events/words.ts';
import type { SnapshotKind } from './snapshot.ts';

type Of = { readonly snapshot_id: string; readonly kind: SnapshotKind };

const named = (name: string | null): string => (name === null ? '' : ` "${name}"`);

export const snapshotEvents = {
  'snapshot.requested': quiet<Of & { readonly name: string | null }>(),
  'snapshot.created': kind<
    Of & {
      readonly name: string | null;
      readonly memory: boolean;
      /** For which the guest stood still. */
      readonly still_ms: number;
      readonly duration_ms: number;
    }
  >({
    level: 'info',
    public: 'A snapshot of the agent is saved; `still_ms` says how long its machine stood still for that.',
    sentence: ({ name, memory, duration_ms }) =>
      `Snapshot${named(name)} saved${memory ? '' : ', the disk alone'} (${duration(duration_ms)}).`,
  }),
  'snapshot.failed': kind<Of & { readonly name: string | null; readonly why: string }>({
    level: 'warn',
    public: 'A snapshot was not saved; the agent is as it was. `why` says the reason.',
    sentence: ({ name, why }) => `Snapshot${named(name)} not saved: ${why}`,
  }),
  'snapshot.updated': told<Of & { readonly fields: readonly string[] }>('A snapshot was changed: `fields` names what.'),
  'snapshot.deleted': told<Of & { readonly why: 'request' | 'expired' | 'retention' | 'disk' | 'agent_deleted' }>(
    'A snapshot was deleted; `why` says the reason.',
  ),
  'snapshot.damaged': kind<Of & { readonly name: string | null; readonly why: string }>({
    level: 'error',
    public: 'A snapshot is not as it was saved. It is shown and never loaded.',
    sentence: ({ name, why }) => `Snapshot${named(name)} is damaged: ${why}`,
  }),
} as const;
