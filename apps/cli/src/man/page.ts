/** The manual page in roff, with every command. */
import type { Argument, Command, Option } from 'commander';
import { examplesFor } from '../examples.ts';
import { exitCodes } from '../failure.ts';
import { version } from '../version.ts';

const exitMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: 'Success.',
  failure: 'Something failed.',
  usage: 'The command was called in a wrong way, or the server refused its values.',
  denied: 'Nobody is signed in, or the key may not do this.',
  notFound: 'It does not exist.',
  conflict: 'Its state does not allow this, or somebody else changed it.',
  limited: 'A rate limit, a quota, a spend limit or the room is used up.',
  unreachable: 'The server was not reached, or did not answer in time.',
  pending: 'Changes are pending (lodge apply).',
  interrupted: 'Somebody interrupted the command.',
};

const variables: readonly (readonly [name: string, meaning: string])[] = [
  ['LODGE_URL', 'Address of the Lodge, instead of the current context.'],
  ['LODGE_API_KEY', "API key, instead of the context's."],
  ['LODGE_KEYRING', "off: keep keys in a file, and not in the system's keyring."],
  ['LODGE_DEBUG', 'Show the stack of a failure.'],
  ['NO_COLOR, FORCE_COLOR', 'Print no colours, or print them in a pipe too.'],
  ['XDG_CONFIG_HOME', 'Folder of the settings; ~/.config otherwise.'],
];

export function manualPage(program: Command): string {
  return [
    `.TH LODGE 1 "" "lodge ${version}" "Lodge"`,
    '.SH NAME',
    'lodge \\- host AI agents, each in a virtual machine of its own',
    '.SH SYNOPSIS',
    '.B lodge',
    roff('<command> [arguments] [options]'),
    '.SH OPTIONS OF EVERY COMMAND',
    ...program.options.filter(({ hidden, long }) => !hidden && long !== '--version').flatMap(optionLines),
    '.SH COMMANDS',
    ...program.commands.filter((each) => !isHidden(each)).flatMap((each) => commandLines(each)),
    '.SH EXIT CODES',
    ...Object.entries(exitCodes).flatMap(([name, code]) => [
      '.TP',
      `.B ${code}`,
      roff(exitMeanings[name as keyof typeof exitCodes]),
    ]),
    '.SH ENVIRONMENT',
    ...variables.flatMap(([name, meaning]) => ['.TP', `.B ${roff(name)}`, roff(meaning)]),
    '.SH FILES',
    '.TP',
    '.I ~/.config/lodge/config.json',
    roff('Contexts. Readable by its owner alone.'),
    '.TP',
    '.I ~/.config/lodge/keys.json',
    roff('Keys of contexts, where the system has no keyring. Readable by its owner alone.'),
    '',
  ].join('\n');
}

function commandLines(command: Command): string[] {
  const below = command.commands.filter((each) => !isHidden(each));
  const own =
    below.length === 0 || examplesFor(command).length > 0
      ? [
          `.SS "${roff(fullName(command))}${command.registeredArguments.map((each) => ` ${roff(argumentTerm(each))}`).join('')}"`,
          roff(command.description()),
          ...command.registeredArguments.flatMap((each) =>
            each.description === '' ? [] : ['.TP', `.I ${roff(argumentTerm(each))}`, roff(each.description)],
          ),
          ...command.options
            .filter((option) => !option.hidden && option.helpGroupHeading === undefined)
            .flatMap(optionLines),
          ...exampleLines(command),
        ]
      : [];
  return [...own, ...below.flatMap((each) => commandLines(each))];
}

function exampleLines(command: Command): string[] {
  return examplesFor(command).flatMap(([text, meaning]) => [
    '.P',
    `${roff(meaning)}:`,
    '.PP',
    '.nf',
    `.B "  ${roff(text)}"`,
    '.fi',
  ]);
}

const optionLines = ({ flags, description }: Option): string[] => ['.TP', `.B ${roff(flags)}`, roff(description)];

/** Returns the words by which a command is called, with `lodge`. */
export function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

/** Commander has no public way to ask. */
const isHidden = (command: Command): boolean => (command as unknown as { readonly _hidden?: boolean })._hidden === true;

/** Escapes text for roff. Each is one line. */
function roff(text: string): string {
  const line = text.replaceAll('\\', '\\e').replaceAll('-', '\\-').replaceAll('"', '\\(dq').replaceAll('\n', ' ');
  return line.startsWith('.') || line.startsWith("'") ? `\\&${line}` : line;
}
