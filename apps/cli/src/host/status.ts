/** `lodge host status`: the state of the machine, asked of the server. */
import type { Host } from '@lodge/sdk';
import type { Command } from 'commander';
import { examples } from '../examples.ts';
import type { On } from '../run.ts';
import { cell } from '../terminal/output.ts';
import type { Output } from '../terminal/output.ts';
import { ago, bytes } from '../terminal/words.ts';

export function status(command: Command, on: On): void {
  const each = command
    .command('status')
    .description('Show memory, disk, templates, warnings and backups of the machine that runs Lodge.');
  examples(each, ['lodge host status', "show the machine from anywhere, with a key of the owner's"]).action(
    on(async (run) => {
      const lodge = await run.lodge();
      const host = await lodge.service.host(run.call);
      run.out.result(host, () => hostFields(run.out, host));
    }),
  );
}

const size = (mib: number): string => bytes(mib * 2 ** 20);

function hostFields(out: Output, { memory, disk, agents, templates, versions, findings, backups }: Host): string {
  return out.fields([
    ['memory', memory && used(memory.total_mib - memory.available_mib, memory)],
    ['disk', disk && used(disk.total_mib - disk.free_mib, disk)],
    ['agents', agents && agents.by_status.map(({ status: state, count }) => `${count} ${state}`).join(', ')],
    ...templates.map(
      ({ runtime, state, step }) =>
        [cell(`template of ${runtime}`) ?? '', cell(state === 'ready' ? state : `${state}: ${step}`)] as const,
    ),
    ['lodge', cell(versions.lodge)],
    ...versions.runtimes.map(
      ({ runtime, current, newest, outdated_agents: outdated }) =>
        [
          cell(runtime) ?? '',
          cell(
            `${current ?? '-'}${newest === current ? '' : `, upgrades to ${newest ?? '-'}`}, ${outdated} agents behind`,
          ),
        ] as const,
    ),
    ['last backup', backups && lastBackup(backups)],
    ...(findings ?? []).map(
      ({ state, name, detail, advice }) =>
        [state, cell(`${name}: ${detail}${advice === null ? '' : ` -> ${advice}`}`)] as const,
    ),
  ]);
}

function used(
  usedMib: number,
  { total_mib: total, agents_mib: agents }: { readonly total_mib: number; readonly agents_mib: number | null },
): string {
  return `${size(usedMib)} of ${size(total)} used${agents === null ? '' : `, ${size(agents)} by agents`}`;
}

function lastBackup({ last, is_known: isKnown }: NonNullable<Host['backups']>): string | null {
  if (last !== null) return cell(`${ago(last.made_at) ?? '-'} ago, in ${last.place}`);
  return isKnown ? 'none' : 'not known here';
}
