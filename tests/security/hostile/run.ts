/** One attack after another, and then several at once, while a bystander works; what it felt of each. */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { attacks, mixed } from './attacks.ts';
import type { Attack } from './attacks.ts';
import { Bystander, together } from './bystander.ts';
import type { Felt, Figures, RequestKind } from './bystander.ts';
import type { World } from './world.ts';

export interface RunOptions {
  /** Before the first attack, and after the last. */
  readonly quietMs: number;
  /** Between two attacks. What else happens on the host is then felt by both. */
  readonly betweenMs: number;
  readonly attackMs: number;
  readonly mixedMs: number;
  /** Default: all. */
  readonly only?: (attack: Attack, index: number) => boolean;
  readonly onOutcome?: (attack: string, outcome: string) => void;
}

export interface Row {
  readonly attack: string;
  readonly on: string;
  readonly outcome: string;
  readonly felt: Readonly<Record<RequestKind, Figures>>;
  /** Resident memory of the control plane when it was over, MiB. */
  readonly rssMib: number;
}

export interface Run {
  readonly quiet: Row;
  readonly rows: readonly Row[];
  /** All attacks that came one after another, as one row: a p99 of a single one is its worst request. */
  readonly sequence: Row;
  readonly mixed: Row | null;
  readonly after: Row;
}

/** Time for what an attack has left under way to end. */
const restMs = 500;

export async function runAttacks(world: World, options: RunOptions): Promise<Run> {
  const bystander = new Bystander({
    baseUrl: world.service.baseUrl,
    key: world.bystander.key,
    agentId: world.ids.bystander,
  });
  const measure = async (attack: string, on: string, work: () => Promise<string>): Promise<Begun> => {
    const felt = bystander.begin();
    const outcome = await work().catch((error: unknown) => `failed: ${String(error).slice(0, 300)}`);
    bystander.begin();
    if (attack !== 'quiet') options.onOutcome?.(attack, outcome);
    return { attack, on, outcome, felt, rssMib: await rssMib(await world.service.controlPlanePid()) };
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
      rows.push(await measure(attack.name, attack.on, () => attack.run(world, options.attackMs)));
      await sleep(restMs);
      quiets.push(await measure('quiet', '', rest(options.betweenMs)));
      if (attack === chosen.findLast(({ isForGood }) => !isForGood)) {
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

/** Requests of it may be under way. */
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
    rssMib: rows[0]!.rssMib,
  };
}

async function rssMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? NaN) / 1024);
}

export function tableOf({ quiet, rows, sequence, after }: Run): string {
  const ms = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(0));
  const line = ({ attack, on, felt: { chat, list, create }, rssMib: rss }: Row): string => {
    const failed = [chat, list, create].reduce((sum, { failures }) => sum + failures.length, 0);
    const figures = [chat, list, create].flatMap((of) => [ms(of.p99), ms(of.worst)]);
    return `| ${[attack, on, ...figures, failed, rss].join(' | ')} |`;
  };
  return [
    '| attack | on | chat p99 | worst | list p99 | worst | create p99 | worst | failed | RSS MiB |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...[quiet, ...rows, sequence, after].map(line),
  ].join('\n');
}
