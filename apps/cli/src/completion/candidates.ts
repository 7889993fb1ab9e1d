/** The words that may stand at the end of an unfinished command, from the tree of commands, the contexts and the API. */
import type { Argument, Command, Option } from 'commander';
import { readConfig } from '../context/config.ts';
import type { Run } from '../run.ts';
import { safeLine } from '../terminal/safe.ts';
import { wholeTree } from '../whole-tree.ts';

export interface Candidate {
  readonly word: string;
  readonly meaning: string;
}

/** A person waits for the shell no longer. */
const askTimeoutMs = 1500;
const maxMeaningChars = 80;
/** A word that a shell takes as it is. */
const plainWord = /^[\w.@%+,-]{1,100}$/;

/** Returns the candidates for the last of the words. The first word stands behind `lodge`. */
export async function candidates(run: Run, words: readonly string[]): Promise<Candidate[]> {
  const last = words.at(-1) ?? '';
  const { command, place, option } = stand(await wholeTree(), words.slice(0, -1));
  if (option) return matching(await ofOption(run, option), last);
  if (last.startsWith('-')) {
    const [flag, value] = last.split('=', 2);
    const named = value === undefined ? undefined : command.options.find(({ long }) => long === flag);
    if (!named) return matching(optionsOf(command), last);
    return (await ofOption(run, named))
      .filter(({ word }) => word.startsWith(value!))
      .map(({ word, meaning }) => ({ word: `${flag}=${word}`, meaning }));
  }
  const below = command.commands.filter((each) => !each.name().startsWith('_'));
  if (below.length > 0 && place === 0)
    return matching(
      below.map((each) => ({ word: each.name(), meaning: each.summary() || each.description() })),
      last,
    );
  const argument = command.registeredArguments.at(place) ?? lastVariadic(command);
  return argument ? matching(await ofArgument(run, argument), last) : [];
}

interface Stand {
  readonly command: Command;
  /** How many arguments the command has. */
  readonly place: number;
  /** The option whose value comes next. */
  readonly option?: Option;
}

/** Walks the words down the tree. */
function stand(program: Command, words: readonly string[]): Stand {
  let command = program;
  let place = 0;
  let option: Option | undefined;
  for (const word of words) {
    if (option) {
      option = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const named = command.options.find(({ long, short }) => long === word || short === word);
      if (named?.required || named?.optional) option = named;
      continue;
    }
    const next =
      place === 0 ? command.commands.find((each) => each.name() === word || each.aliases().includes(word)) : undefined;
    if (next) command = next;
    else place += 1;
  }
  return { command, place, ...(option && { option }) };
}

const lastVariadic = (command: Command): Argument | undefined => {
  const last = command.registeredArguments.at(-1);
  return last?.variadic ? last : undefined;
};

const matching = (all: readonly Candidate[], beginning: string): Candidate[] =>
  all
    .filter(({ word }) => word.startsWith(beginning) && !/[\t\n]/.test(word))
    .map(({ word, meaning }) => ({ word, meaning: safeLine(meaning, maxMeaningChars) }));

const optionsOf = (command: Command): Candidate[] => [
  ...command.options
    .filter(({ long }) => long !== undefined)
    .map(({ long, description }) => ({ word: long!, meaning: description })),
  { word: '--help', meaning: 'show help, with examples' },
];

const chosen = (choices: readonly string[] | undefined): Candidate[] | undefined =>
  choices?.map((word) => ({ word, meaning: '' }));

async function ofOption(run: Run, option: Option): Promise<Candidate[]> {
  const choices = chosen(option.argChoices);
  if (choices) return choices;
  return option.long === '--context' ? contexts(run) : [];
}

/** An argument that is called `agent` is completed with agents, and `context` with contexts. */
async function ofArgument(run: Run, argument: Argument): Promise<Candidate[]> {
  const choices = chosen(argument.argChoices);
  if (choices) return choices;
  switch (argument.name()) {
    case 'agent':
    case 'agents':
      return agents(run);
    case 'context':
      return contexts(run);
    default:
      return [];
  }
}

async function contexts(run: Run): Promise<Candidate[]> {
  const { contexts } = await readConfig(run.env).catch(() => ({ contexts: {} }));
  return Object.entries(contexts).map(([word, { url }]) => ({ word, meaning: url }));
}

/** Returns the newest agents: their ids, and names that a shell takes as they are. */
async function agents(run: Run): Promise<Candidate[]> {
  try {
    const lodge = await run.lodge();
    const { data } = await lodge.agents.list(
      { limit: 100 },
      { signal: AbortSignal.timeout(askTimeoutMs), maxRetries: 0 },
    );
    const named = data.filter(({ name }) => plainWord.test(name) && !name.startsWith('-'));
    return [
      ...named.map(({ name, id, status }) => ({ word: name, meaning: `${id}, ${status}` })),
      ...data
        .filter(({ id }) => plainWord.test(id))
        .map(({ id, name, status }) => ({ word: id, meaning: `${name}, ${status}` })),
    ];
  } catch {
    return [];
  }
}
