/** The tree of commands, of which only the group that is asked for is loaded. */
import { Command, Option } from 'commander';
import { groups } from './commands/registry.ts';
import type { Group } from './commands/registry.ts';
import { exampleText } from './examples.ts';
import type { On } from './run.ts';
import { safeText } from './terminal/safe.ts';
import { version } from './version.ts';

const about = 'Hosts AI agents, each in a virtual machine of its own.';
const shared = 'Options of every command:';

export interface ProgramOptions {
  readonly on: On;
  readonly write: (text: string) => void;
  readonly writeError: (text: string) => void;
  readonly columns: number;
  /** Names of the groups to load; the others have their names and summaries alone. */
  readonly wanted: (group: string) => boolean;
}

export async function makeProgram(options: ProgramOptions): Promise<Command> {
  const program = new Command('lodge');
  program
    .description(about)
    .usage('[options] <command>')
    .enablePositionalOptions()
    .helpCommand(false)
    .helpOption('-h, --help', 'show help, with examples')
    .version(version, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => options.write(safeText(text)),
      writeErr: (text) => options.writeError(safeText(text)),
      getOutHelpWidth: () => options.columns,
      getErrHelpWidth: () => options.columns,
      outputError: (text, write) => write(text.replace(/^error: /, 'Error: ')),
    })
    .configureHelp({ subcommandTerm: (command) => command.name(), sortSubcommands: false })
    .showSuggestionAfterError()
    .addHelpText('after', '\nMore about a command: lodge help <command>');
  for (const group of groups) await addGroup(program, group, options);
  addShared(program, true);
  return program;
}

async function addGroup(program: Command, group: Group, options: ProgramOptions): Promise<void> {
  const { name, summary, heading, isHidden } = group;
  const command = program
    .command(name, { hidden: isHidden === true })
    .description(sentence(summary))
    .summary(summary);
  command.helpGroup(`${heading}:`);
  if (!options.wanted(name)) return;
  const { default: define } = await group.load();
  define(command, options.on);
  for (const each of tree(command)) {
    each.helpCommand(false);
    addShared(each, each.commands.length === 0);
    each.addHelpText('after', () => exampleText(each));
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** Every command takes these, so that they can stand anywhere. Help shows them where `isShown`. */
function addShared(command: Command, isShown: boolean): void {
  const all = [
    new Option('--json', 'print JSON: one document, or one line each for what goes on'),
    new Option('--context <name>', 'use this context instead of the current one'),
    new Option('--url <address>', 'use the Lodge at this address'),
    new Option('-y, --yes', 'do not ask before something is deleted'),
  ];
  for (const option of all) {
    option.helpGroup(shared).hideHelp(!isShown);
    const isTaken = command.options.some(
      ({ long, short }) => long === option.long || (short !== undefined && short === option.short),
    );
    if (!isTaken) command.addOption(option);
  }
}

/** Returns a command and all below it. */
export function tree(command: Command): Command[] {
  return [command, ...command.commands.flatMap(tree)];
}

/** Returns the first word that is no option: the group's name. */
export function groupOf(args: readonly string[]): string | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at]!;
    if (word === '--context' || word === '--url') at += 1;
    else if (!word.startsWith('-')) return word;
  }
  return undefined;
}

/** `lodge help agents list` is `lodge agents list --help`. */
export function withHelp(args: readonly string[]): readonly string[] {
  return args[0] === 'help' ? [...args.slice(1), '--help'] : args;
}
