/** The part of `lodge skills` about agents: which skills of the library they use. */
import type { AgentSkill, PutAgentSkill } from '@lodge/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { agentIdOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { usageError } from '../failure.ts';
import { showList } from '../gathered.ts';
import type { On, Run } from '../run.ts';
import { cell } from '../terminal/output.ts';
import { safeLine } from '../terminal/safe.ts';
import { yesNo } from '../terminal/words.ts';
import { given, several } from '../values.ts';

const most = 1000;
const nameArgument = ['<skill>', 'name of the skill'] as const;

interface UseOptions {
  readonly version?: string;
  readonly member?: readonly string[];
  readonly itself?: true;
  readonly enabled?: 'yes' | 'no';
}

export function defineUses(command: Command, on: On): void {
  defineUse(command, on);
  defineReads(command, on);
  const unuse = command
    .command('unuse')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Take a skill from an agent. The library keeps it.');
  examples(unuse, ['lodge skills unuse ada release-notes', 'ada has it no more']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const removed = await lodge.agentSkills.delete(id, name, run.call);
      run.out.result(removed, () => `Took the skill ${safeLine(name)} from the agent.\n`);
    }),
  );
}

function defineUse(command: Command, on: On): void {
  const use = command
    .command('use')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .option('--version <number>', 'a version; by default each new one as soon as it is in the library')
    .option('--member <name>', 'a member that has it, several times for several; all without it', several)
    .option('--itself', 'with --member: the agent itself has it too; alone: no member has it')
    .addOption(new Option('--enabled <yes or no>', 'whether it is in the machine').choices(['yes', 'no']))
    .description('Give an agent a skill of the library, or give it otherwise.');
  examples(
    use,
    ['lodge skills use ada release-notes', 'ada follows the latest version'],
    ['lodge skills use ada release-notes --version 2 --member researcher', 'one member has version 2'],
  ).action(
    on(async (run, options: UseOptions, agent: string, name: string) => {
      const body = bodyOf(options);
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const skill = await lodge.agentSkills.put(id, name, body, run.call);
      run.out.result(skill, () => fieldsOf(run, skill));
    }),
  );
}

function defineReads(command: Command, on: On): void {
  const used = command
    .command('used')
    .argument(...agentArgument)
    .description('List the skills of an agent.');
  examples(used, ['lodge skills used ada', 'show which ada has']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      await showList<AgentSkill>(
        run,
        lodge.agentSkills.list(id, run.call),
        most,
        [
          { title: 'name', value: ({ name }) => name, keep: true },
          { title: 'version', value: versionOf },
          { title: 'state', value: ({ state }) => state },
          { title: 'missing', value: missingOf },
          { title: 'enabled', value: ({ enabled }) => yesNo(enabled) },
        ],
        'The agent has no skills of the library.',
      );
    }),
  );
  const status = command
    .command('status')
    .argument(...agentArgument)
    .argument(...nameArgument)
    .description('Show a skill of an agent, as its machine has it.');
  examples(status, ['lodge skills status ada release-notes', 'show what it lacks']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const skill = await lodge.agentSkills.get(id, name, run.call);
      run.out.result(skill, () => fieldsOf(run, skill));
    }),
  );
}

function bodyOf({ version, member, itself, enabled }: UseOptions): PutAgentSkill {
  if (version !== undefined && version !== 'latest' && !/^[1-9]\d{0,5}$/.test(version)) {
    throw usageError('--version must be a number from 1 on, or latest.');
  }
  const members = member === undefined && itself === undefined ? null : [...(itself ? [null] : []), ...(member ?? [])];
  return {
    members,
    ...given({ version: version === undefined || version === 'latest' ? undefined : Number(version) }),
    ...given({ enabled: enabled === undefined ? undefined : enabled === 'yes' }),
  };
}

const versionOf = ({ version, resolved_version: now }: AgentSkill): string =>
  version === 'latest' ? `${now} (latest)` : String(now);

const missingOf = ({ missing }: AgentSkill): string | null =>
  [...missing.programs, ...missing.variables].join(' ') || null;

const fieldsOf = (run: Run, skill: AgentSkill): string =>
  run.out.fields([
    ['name', cell(skill.name)],
    ['version', cell(versionOf(skill))],
    ['state', cell(skill.state)],
    ['error', cell(skill.error)],
    ['missing', cell(missingOf(skill))],
    ['enabled', yesNo(skill.enabled)],
    ['members', cell(skill.members?.map((name) => name ?? 'the agent itself').join(', ') ?? 'all')],
    ['updated', cell(skill.updated_at)],
  ]);
