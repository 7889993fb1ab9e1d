/** A snapshot in words. */
import type { Snapshot } from '@lodge/sdk';
import { visibleName } from '../../../components/words/visible-text.ts';
import { formatDate, formatDateTime } from '../../../format.ts';

export const kindWords: Readonly<Record<Snapshot['kind'], string>> = {
  named: 'Saved by hand',
  auto: 'Automatic',
  fork: 'Made for forks',
  before_restore: 'As it was before it went back',
  before_upgrade: 'As it was before an upgrade',
};

/** The snapshot within a sentence or the label of a button. */
export const titleOf = ({ name, created_at: at }: Pick<Snapshot, 'name' | 'created_at'>): string =>
  name === null ? `the snapshot of ${formatDateTime(new Date(at))}` : `“${visibleName(name)}”`;

/** The parts of the machine that an agent begins with. */
export function loadWords({ memory, loads }: Pick<Snapshot, 'memory' | 'loads'>): string {
  if (loads === 'memory') return 'Memory and disk';
  return memory ? 'Disk: this host cannot load its memory' : 'Disk alone';
}

export function keptWords({ pinned, expires_at: until, status }: Pick<Snapshot, 'pinned' | 'expires_at' | 'status'>) {
  if (until !== null) return `Until ${formatDate(new Date(until))}`;
  if (pinned) return 'Beyond the agent';
  return status === 'failed' ? 'For a day' : 'With the agent';
}
