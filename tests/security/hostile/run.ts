/** One attack after another, and then several at once, while a bystander works; what it felt of each. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Attack } from './attack.ts';
import { attacks, mixed } from './attacks.ts';
import { Bystander, requestKinds, together } from './bystander.ts';
import type { Felt, Figures, RequestKind } from './bystander.ts';
import { Watch, resourcesOf } from './resources.ts';
import type { World } from './world.ts';

export interface RunOptions {
  /** Before the first attack, and after the last. */
  readonly quietMs: number;
  /** Pause between two attacks: memory must be back by its end. Both measurements then feel other work on the host. */
  readonly betweenMs: number;
  readonly attackMs: number;
  /** 0: there is no attack of several at once. */
  readonly mixedMs: number;
  /** Default: all. */
  readonly only?: (attack: Attack, index: number) => boolean;
  readonly onOutcome?: (attack: string, outcome: string) => void;
}

/** Why an attack did not run; the outcome of an attack that did says nothing. */
const failed = 'failed: ';

export interface Row {
  readonly attack: string;
  readonly on: string;
  readonly outcome: string;
  readonly felt: Readonly<Record<RequestKind, Figures>>;
  /** Memory of Lodge's processes. */
  readonly memoryMib: {
    readonly before: number;
    readonly most: number;
    /** When the time until the next attack was over. */
    after: number;
  };
  readonly leastDiskFreeMib: number;
}

export interface Run {
  readonly quiet: Row;
  readonly rows: readonly Row[];
  /** All attacks that came one after another, as one row: a p99 of a single one is its worst request. */
  readonly sequence: Row;
  readonly mixed: Row | null;
  readonly after: Row;
}

/** Time for the end of an attack's running work. */
const restMs = 500;

export async function runAttacks(world: World, options: RunOptions): Promise<Run> {
  const bystander = new Bystander({
    baseUrl: world.service.baseUrl,
    key: world.bystander.key,
    agentId: world.ids.bystander,
  });
  const measure = async (attack: string, on: string, work: () => Promise<string>): Promise<Begun> => {
    const { memoryMib: before } = await resourcesOf(world.service);
    const watch = new Watch(world.service);
    const felt = bystander.begin();
    const outcome = await work().catch((error: unknown) => `${failed}${String(error).slice(0, 300)}`);
    bystander.begin();
    if (attack !== 'quiet') options.onOutcome?.(attack, outcome);
    const { memoryMib: most, diskFreeMib: leastDiskFreeMib } = await watch.end();
    return { attack, on, outcome, felt, memoryMib: { before, most, after: most }, leastDiskFreeMib };
  };
  const rest = (ms: number) => async (): Promise<string> => {
    await sleep(ms);
    return '';
  };
  bystander.start();
  try {
    await sleep(2000);
    const quiets = [await measure('quiet', '', rest(options.quietMs))];
    const rows: Begun[] = [];
    const chosen = attacks.filter(options.only ?? (() => true));
    for (const attack of chosen) {
      const row = await measure(attack.name, attack.on, () => attack.run(world, options.attackMs));
      rows.push(row);
      await sleep(restMs);
      quiets.push(await measure('quiet', '', rest(options.betweenMs)));
      row.memoryMib.after = (await resourcesOf(world.service)).memoryMib;
      if (options.mixedMs > 0 && attack === chosen.findLast(({ isForGood }) => !isForGood)) {
        rows.push(await measure(mixed.name, mixed.on, () => mixed.run(world, options.mixedMs)));
      }
    }
    await sleep(restMs);
    const after = await measure('quiet again', '', rest(options.quietMs));
    await bystander.stop();
    const all = rows.map(ended);
    return {
      quiet: sumOf('quiet', [...quiets, after].map(ended)),
      rows: all,
      sequence: sumOf(
        'one after another',
        all.filter((row) => row.attack !== mixed.name),
      ),
      mixed: all.find((row) => row.attack === mixed.name) ?? null,
      after: ended(after),
    };
  } finally {
    await bystander.stop();
  }
}

/** Requests of it may be running. */
interface Begun extends Omit<Row, 'felt'> {
  readonly felt: Felt;
}

const ended = (begun: Begun): Row => ({ ...begun, felt: begun.felt.figures });

function sumOf(attack: string, rows: readonly Row[]): Row {
  const felt = (kind: RequestKind): Figures => together(rows.map((row) => row.felt[kind]));
  return {
    attack,
    on: '',
    outcome: '',
    felt: { chat: felt('chat'), list: felt('list'), create: felt('create') },
    memoryMib: {
      before: rows[0]!.memoryMib.before,
      most: Math.max(...rows.map(({ memoryMib }) => memoryMib.most)),
      after: rows.at(-1)!.memoryMib.after,
    },
    leastDiskFreeMib: Math.min(...rows.map((row) => row.leastDiskFreeMib)),
  };
}

/** A line for each attack; of a single short one the p99 is its worst request. */
export function tableOf({ quiet, rows, sequence, after }: Run): string {
  const ms = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(0));
  const line = ({ attack, on, felt, memoryMib, leastDiskFreeMib }: Row): string => {
    const figures = requestKinds.flatMap((kind) => [ms(felt[kind].p99), ms(felt[kind].worst)]);
    const ratio = (felt.list.p99 / quiet.felt.list.p99).toFixed(1);
    const failures = requestKinds.reduce((sum, kind) => sum + felt[kind].failures.length, 0);
    const { before, most, after: left } = memoryMib;
    return `| ${[attack, on, ...figures, ratio, failures, before, most, left, leastDiskFreeMib].join(' | ')} |`;
  };
  return [
    '| attack | on | chat p99 | worst | list p99 | worst | create p99 | worst | list p99 of quiet | failed | memory before, MiB | most | after | least disk free, MiB |',
    `|${'---|'.repeat(14)}`,
    ...[quiet, ...rows, sequence, after].map(line),
  ].join('\n');
}
