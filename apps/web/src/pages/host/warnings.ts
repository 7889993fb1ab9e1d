import type { Host } from '@lodge/sdk';
import { formatBytes } from '../../format.ts';

export interface Warning {
  readonly kind: 'error' | 'warning';
  readonly title: string;
  readonly detail: string;
  readonly advice: string | null;
}

const mib = 2 ** 20;
const dayMs = 86_400_000;
/** Below this part left it is a warning. */
const lowPart = 0.1;
/** A backup that is made daily, and missed once. */
const oldBackupMs = 2 * dayMs;

/** All that somebody should look at, worst first. */
export function warningsOf(host: Host, now = Date.now()): readonly Warning[] {
  const all = [...findings(host), ...room(host), ...templates(host), ...backups(host, now)];
  return [...all.filter(({ kind }) => kind === 'error'), ...all.filter(({ kind }) => kind === 'warning')];
}

function findings({ findings: found }: Host): readonly Warning[] {
  return (found ?? []).flatMap(({ name, state, detail, advice }) =>
    state === 'note'
      ? []
      : [{ kind: state === 'fail' ? ('error' as const) : ('warning' as const), title: name, detail, advice }],
  );
}

function room({ memory, disk }: Host): readonly Warning[] {
  const low = (title: string, leftMib: number, totalMib: number, advice: string): readonly Warning[] =>
    leftMib < totalMib * lowPart
      ? [
          {
            kind: 'warning',
            title,
            detail: `${formatBytes(leftMib * mib)} of ${formatBytes(totalMib * mib)} left`,
            advice,
          },
        ]
      : [];
  return [
    ...(memory === null
      ? []
      : low(
          'Memory is short',
          memory.available_mib,
          memory.total_mib,
          'Stop agents that nobody needs, or add memory. Paused agents are stopped by themselves.',
        )),
    ...(disk === null
      ? []
      : low('The disk is nearly full', disk.free_mib, disk.total_mib, 'Delete agents that nobody needs, or add disk.')),
  ];
}

function templates({ templates: all }: Host): readonly Warning[] {
  return all
    .filter(({ state }) => state === 'failed')
    .map(({ runtime, step }) => ({
      kind: 'error',
      title: `No agents of ${runtime} can be made`,
      detail: step,
      advice: 'Lodge tries again by itself; its log says more.',
    }));
}

function backups({ backups: known }: Host, now: number): readonly Warning[] {
  if (known === null || !known.is_known) return [];
  const { last, place } = known;
  if (last === null) {
    const advice = place === null ? 'Set LODGE_BACKUP_PLACE (guide: Backup).' : 'The first one is made by itself.';
    return [
      {
        kind: 'warning',
        title: 'There is no backup',
        detail: 'Agents and their files are on this disk alone.',
        advice,
      },
    ];
  }
  const days = Math.floor((now - Date.parse(last.made_at)) / dayMs);
  if (place === null || now - Date.parse(last.made_at) < oldBackupMs) return [];
  return [
    {
      kind: 'warning',
      title: 'The last backup is old',
      detail: `It was made ${days} days ago.`,
      advice: 'The log of Lodge says why none came after it.',
    },
  ];
}
