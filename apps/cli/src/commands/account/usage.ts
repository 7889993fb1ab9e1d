/** `lodge usage`: what agents used and what it cost, with plots in text. */
import type { Usage } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { examples } from '../../examples.ts';
import type { On, Run } from '../../run.ts';
import { timeOption } from '../../streams/times.ts';
import { plot, totalsText } from '../../usage/plot.ts';
import { given } from '../../values.ts';

interface UsageOptions {
  readonly since?: string;
  readonly until?: string;
  readonly by?: 'agent' | 'model' | 'provider';
  readonly width?: '1h' | '1d' | 'all';
  readonly timeZone?: string;
  readonly csv?: true;
}

export default function usage(command: Command, on: On): void {
  command
    .argument('[agent]', 'only this agent')
    .option('--since <time>', 'from this time on: a time, or a span such as 12h, 7d or 4w', timeOption)
    .option('--until <time>', 'before this time', timeOption)
    .addOption(new Option('--by <what>', 'a part for each').choices(['agent', 'model', 'provider']))
    .addOption(new Option('--width <width>', 'a bar for each hour or day, or one for all').choices(['1h', '1d', 'all']))
    .option('--time-zone <zone>', 'whose days; those of this machine otherwise')
    .option('--csv', 'print comma-separated values');
  examples(
    command,
    ['lodge usage', 'show the last days'],
    ['lodge usage ada --since 12h --width 1h', 'show the hours of ada'],
    ['lodge usage --by model --width all --since 30d', 'show what each model cost'],
  ).action(on(showUsage));
}

async function showUsage(run: Run, options: UsageOptions, agent: string | undefined): Promise<void> {
  const { since = timeOption('7d'), until, by, width, timeZone, csv } = options;
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const query = {
    starting_at: since,
    bucket_width: width ?? (by === undefined ? ('1d' as const) : ('all' as const)),
    time_zone: zone,
    ...given({ ending_at: until, group_by: by }),
  };
  const id = agent === undefined ? undefined : await agentIdOf(run, agent);
  const lodge = await run.lodge();
  if (csv) {
    const asked = { ...query, format: 'csv' as const };
    const text =
      id === undefined ? await lodge.usage.get(asked, run.call) : await lodge.usage.agent(id, asked, run.call);
    return run.out.write(text);
  }
  const found: Usage =
    id === undefined ? await lodge.usage.get(query, run.call) : await lodge.usage.agent(id, query, run.call);
  run.out.result(found, () => `${plot(run.out, found)}\n${totalsText(run.out, found)}`);
}
