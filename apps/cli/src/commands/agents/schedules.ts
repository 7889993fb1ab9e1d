/** `lodge schedules`: prompts that an agent gets by itself. */
import type { CreateSchedule, Schedule, ScheduleRun } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { deliverOf, withDelivery } from '../../delivery.ts';
import type { Delivery } from '../../delivery.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import { limitOption, named, pageOf, showList } from '../../gathered.ts';
import type { ListOptions } from '../../gathered.ts';
import type { On, Run } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine, safeText } from '../../terminal/safe.ts';
import { ago, yesNo } from '../../terminal/words.ts';
import { given, readText } from '../../values.ts';

interface ScheduleSettings extends Delivery {
  readonly cron?: string;
  readonly every?: string;
  readonly at?: string;
  readonly timeZone?: string;
  readonly prompt?: string;
  readonly promptFile?: string;
  readonly conversation?: string;
  readonly wake?: 'yes' | 'no';
  readonly enabled?: 'yes' | 'no';
}

const scheduleArgument = ['<schedule>', 'id or name of the schedule'] as const;

export default function schedules(command: Command, on: On): void {
  defineReads(command, on);
  defineWrites(command, on);
  defineRuns(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .addOption(limitOption())
    .description('List the schedules of an agent.');
  examples(list, ['lodge schedules list ada', 'show what ada does by herself']).action(
    on(async (run, { limit }: ListOptions, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList(
        run,
        lodge.schedules.list(id, run.call),
        limit,
        [
          { title: 'id', value: (each) => each.id, keep: true },
          { title: 'name', value: ({ name }) => name },
          { title: 'when', value: whenOf },
          { title: 'next', value: ({ next_run_at }) => ago(next_run_at) },
          { title: 'last', value: ({ last_run }) => last_run && (last_run.status ?? 'under way') },
          { title: 'enabled', value: ({ enabled }) => yesNo(enabled) },
        ],
        'The agent has no schedules.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...agentArgument)
    .argument(...scheduleArgument)
    .description('Show one schedule.');
  examples(show, ['lodge schedules show ada morning', 'show the schedule of this name']).action(
    on(async (run, _options: object, agent: string, meant: string) => {
      const { found } = await scheduleOf(run, agent, meant);
      run.out.result(found, () => scheduleFields(run.out, found));
    }),
  );
}

const withSettings = (command: Command): Command =>
  withDelivery(
    command
      .option('--cron <expression>', 'five fields, such as "0 9 * * 1-5"')
      .option('--every <interval>', 'an interval, such as 30m, 6h or 1d')
      .option('--at <time>', 'one time, such as 2027-01-31T09:00:00Z')
      .option('--time-zone <zone>', 'the zone of --cron, such as Europe/Berlin')
      .option('--prompt <text>', 'what the agent is told')
      .option('--prompt-file <path>', 'the same from a file, - for stdin')
      .option('--conversation <name>', 'the conversation that the runs go on with')
      .option('--wake <yes or no>', 'whether it wakes an agent that sleeps')
      .option('--enabled <yes or no>', 'whether its times come'),
  );

function defineWrites(command: Command, on: On): void {
  const create = withSettings(
    command
      .command('create')
      .argument(...agentArgument)
      .argument('<name>', 'name of the schedule')
      .description('Make a schedule, with one of --cron, --every and --at.'),
  );
  examples(
    create,
    [
      'lodge schedules create ada morning --cron "0 9 * * 1-5" --time-zone Europe/Berlin --prompt "Sum up the news."',
      'say this at nine on working days',
    ],
    ['lodge schedules create ada check --every 30m --prompt-file check.md', 'take the prompt from a file'],
  ).action(
    on(async (run, options: ScheduleSettings, agent: string, name: string) => {
      const { prompt, ...body } = await settingsOf(run, options);
      if (prompt === undefined) throw usageError('--prompt or --prompt-file is needed.');
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const made = await lodge.schedules.create(id, { name, prompt, ...body }, run.call);
      run.out.result(made, () => scheduleFields(run.out, made));
    }),
  );
  const update = withSettings(
    command
      .command('update')
      .argument(...agentArgument)
      .argument(...scheduleArgument)
      .option('--name <name>', 'another name')
      .description('Change a schedule.'),
  );
  examples(update, ['lodge schedules update ada morning --enabled no', 'let its times pass']).action(
    on(async (run, options: ScheduleSettings & { readonly name?: string }, agent: string, meant: string) => {
      const body = { ...(await settingsOf(run, options)), ...given({ name: options.name }) };
      if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.');
      const { id, found } = await scheduleOf(run, agent, meant);
      const lodge = await run.lodge();
      const changed = await lodge.schedules.update(id, found.id, body, run.call);
      run.out.result(changed, () => scheduleFields(run.out, changed));
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .argument(...scheduleArgument)
    .description('Delete a schedule with its runs.');
  examples(remove, ['lodge schedules delete ada morning', 'delete it, after a question']).action(
    on(async (run, _options: object, agent: string, meant: string) => {
      const { id, found } = await scheduleOf(run, agent, meant);
      if (!run.isYes) await confirm(run, `Delete the schedule ${safeLine(found.name)} with its runs?`);
      const lodge = await run.lodge();
      const deleted = await lodge.schedules.delete(id, found.id, run.call);
      run.out.result(deleted, () => `Deleted ${safeLine(found.name)}.\n`);
    }),
  );
}

function defineRuns(command: Command, on: On): void {
  const now = command
    .command('run')
    .argument(...agentArgument)
    .argument(...scheduleArgument)
    .description('Run a schedule now.');
  examples(now, ['lodge schedules run ada morning', 'do not wait for its time']).action(
    on(async (run, _options: object, agent: string, meant: string) => {
      const { id, found } = await scheduleOf(run, agent, meant);
      const lodge = await run.lodge();
      const begun = await lodge.schedules.run(id, found.id, {}, run.call);
      run.out.result(begun, () => `The run ${safeLine(begun.id)} has begun.\n`);
    }),
  );
  const runs = command
    .command('runs')
    .argument(...agentArgument)
    .argument(...scheduleArgument)
    .addOption(limitOption())
    .description('List the runs of a schedule, newest first.');
  examples(runs, ['lodge schedules runs ada morning', 'show what became of each time']).action(
    on(async (run, { limit }: ListOptions, agent: string, meant: string) => {
      const { id, found } = await scheduleOf(run, agent, meant);
      const lodge = await run.lodge();
      await showList<ScheduleRun>(
        run,
        lodge.schedules.runs(id, found.id, { limit: pageOf(limit) }, run.call),
        limit,
        [
          { title: 'for', value: ({ scheduled_for }) => scheduled_for, keep: true },
          { title: 'status', value: ({ status }) => status ?? 'under way' },
          { title: 'cost', value: ({ cost }) => cost, align: 'right' },
          { title: 'answer', value: (each) => each.error ?? each.answer_preview },
        ],
        'It has not run yet.',
      );
    }),
  );
}

async function scheduleOf(run: Run, agent: string, meant: string): Promise<{ id: string; found: Schedule }> {
  const id = await agentIdOf(run, agent);
  const lodge = await run.lodge();
  return { id, found: await named(lodge.schedules.list(id, run.call), meant, ({ name }) => name, 'schedule') };
}

async function settingsOf(run: Run, options: ScheduleSettings): Promise<Partial<CreateSchedule>> {
  const { cron, every, at, timeZone, prompt, promptFile, conversation, wake, enabled } = options;
  if ([cron, every, at].filter((each) => each !== undefined).length > 1)
    throw usageError('--cron, --every and --at cannot be given together.');
  if (prompt !== undefined && promptFile !== undefined)
    throw usageError('--prompt and --prompt-file cannot both be given.');
  return given({
    cron,
    every,
    at,
    conversation,
    time_zone: timeZone,
    prompt: promptFile === undefined ? prompt : await readText(run, promptFile),
    wake: flag('--wake', wake),
    enabled: flag('--enabled', enabled),
    deliver: deliverOf(options),
  });
}

function flag(option: string, value: string | undefined): boolean | undefined {
  if (value === undefined) return undefined;
  if (value !== 'yes' && value !== 'no') throw usageError(`${option} takes yes or no.`);
  return value === 'yes';
}

const whenOf = ({ cron, every, at, time_zone: zone }: Schedule): string =>
  cron === undefined ? (every === undefined ? `at ${at}` : `every ${every}`) : `${cron} (${zone})`;

const scheduleFields = (out: Output, schedule: Schedule): string => {
  const { last_run: last } = schedule;
  const text = out.fields([
    ['id', cell(schedule.id)],
    ['name', cell(schedule.name)],
    ['when', cell(whenOf(schedule))],
    ['enabled', yesNo(schedule.enabled)],
    ['next run', cell(schedule.next_run_at)],
    ['last run', last && safeLine(`${last.scheduled_for}: ${last.error ?? last.status ?? 'under way'}`)],
    ['conversation', cell(schedule.conversation)],
    ['answers go to', cell([schedule.deliver.to, schedule.deliver.channel].filter(Boolean).join(': '))],
    ['wakes the agent', yesNo(schedule.wake)],
  ]);
  return `${text}\n${safeText(schedule.prompt)}\n`;
};
