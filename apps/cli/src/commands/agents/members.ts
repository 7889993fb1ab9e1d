/** `lodge members`: colleagues in the machine of an agent, each with its own instructions, model and conversations. */
import type { AgentMember } from '@lodge/sdk';
import type { Command } from 'commander';
import { agentIdOf } from '../../agent-of.ts';
import { agentArgument } from '../../arguments.ts';
import { examples } from '../../examples.ts';
import { usageError } from '../../failure.ts';
import type { On, Run } from '../../run.ts';
import { cell } from '../../terminal/output.ts';
import type { Output } from '../../terminal/output.ts';
import { confirm } from '../../terminal/prompt.ts';
import { safeLine, safeText } from '../../terminal/safe.ts';
import { yesNo } from '../../terminal/words.ts';
import { given, readText } from '../../values.ts';

interface MemberSettings {
  readonly model?: string;
  readonly instructions?: string;
  readonly instructionsFile?: string;
  readonly reset?: readonly ('model' | 'instructions')[];
}

const memberArgument = ['<member>', "the member's name"] as const;

export default function members(command: Command, on: On): void {
  defineReads(command, on);
  defineWrites(command, on);
}

function defineReads(command: Command, on: On): void {
  const list = command
    .command('list')
    .alias('ls')
    .argument(...agentArgument)
    .description('List the members of an agent.');
  examples(list, ['lodge members list ada', 'show the members of ada']).action(
    on(async (run, _options: object, agent: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const found = await lodge.members.list(id, run.call);
      run.out.table(
        found,
        found.data,
        [
          { title: 'name', value: ({ name }) => name, keep: true },
          { title: 'model', value: ({ model }) => model ?? "the agent's own" },
          { title: 'chat model', value: ({ chat_model }) => chat_model },
          { title: 'pending', value: ({ pending }) => yesNo(pending) },
        ],
        'The agent has no members.',
      );
    }),
  );
  const show = command
    .command('show')
    .argument(...agentArgument)
    .argument(...memberArgument)
    .description('Show one member.');
  examples(show, ['lodge members show ada researcher', 'show the member researcher of ada']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const member = await lodge.members.get(id, name, run.call);
      run.out.result(member, () => memberFields(run.out, member));
    }),
  );
}

const withSettings = (command: Command): Command =>
  command
    .option('--model <name>', "its model; the agent's own otherwise")
    .option('--instructions <text>', 'who it is and how it works')
    .option('--instructions-file <path>', 'the same from a file, - for stdin');

function defineWrites(command: Command, on: On): void {
  const create = withSettings(
    command
      .command('create')
      .argument(...agentArgument)
      .argument(...memberArgument)
      .description('Add a member to an agent.'),
  );
  examples(create, ['lodge members create ada researcher --instructions "You look things up."', 'add a member']).action(
    on(async (run, options: MemberSettings, agent: string, name: string) => {
      const body = { name, ...(await settingsOf(run, options)) };
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const member = await lodge.members.create(id, body, run.call);
      run.out.result(member, () => memberFields(run.out, member));
    }),
  );
  const update = withSettings(
    command
      .command('update')
      .argument(...agentArgument)
      .argument(...memberArgument)
      .description('Change a member.'),
  ).option('--reset <field...>', 'model, instructions, or both');
  examples(update, ['lodge members update ada researcher --model openai/gpt-5', 'give it another model']).action(
    on(async (run, options: MemberSettings, agent: string, name: string) => {
      const body = await settingsOf(run, options);
      if (Object.keys(body).length === 0) throw usageError('Nothing to change was given.');
      const id = await agentIdOf(run, agent);
      const lodge = await run.lodge();
      const member = await lodge.members.update(id, name, body, run.call);
      run.out.result(member, () => memberFields(run.out, member));
    }),
  );
  const remove = command
    .command('delete')
    .alias('rm')
    .argument(...agentArgument)
    .argument(...memberArgument)
    .description('Delete a member with its workspace and conversations.');
  examples(remove, ['lodge members delete ada researcher', 'delete it, after a question']).action(
    on(async (run, _options: object, agent: string, name: string) => {
      const id = await agentIdOf(run, agent);
      if (!run.isYes) await confirm(run, `Delete the member ${safeLine(name)} with its workspace and conversations?`);
      const lodge = await run.lodge();
      const deleted = await lodge.members.delete(id, name, run.call);
      run.out.result(deleted, () => `Deleted ${safeLine(name)}.\n`);
    }),
  );
}

async function settingsOf(
  run: Run,
  options: MemberSettings,
): Promise<{ model?: string | null; instructions?: string | null }> {
  const { model, instructions, instructionsFile, reset = [] } = options;
  if (instructions !== undefined && instructionsFile !== undefined)
    throw usageError('--instructions and --instructions-file cannot both be given.');
  const unknown = reset.find((field) => field !== 'model' && field !== 'instructions');
  if (unknown !== undefined) throw usageError('--reset takes model and instructions.');
  return {
    ...Object.fromEntries(reset.map((field) => [field, null])),
    ...given({
      model,
      instructions: instructionsFile === undefined ? instructions : await readText(run, instructionsFile),
    }),
  };
}

function memberFields(out: Output, member: AgentMember): string {
  const text = out.fields([
    ['name', cell(member.name)],
    ['agent', cell(member.agent_id)],
    ['model', cell(member.model ?? "the agent's own")],
    ['chat model', cell(member.chat_model)],
    ['workspace', cell(member.workspace)],
    ['pending', yesNo(member.pending)],
    ['created', cell(member.created_at)],
  ]);
  return member.instructions === null ? text : `${text}\n${safeText(member.instructions)}\n`;
}
