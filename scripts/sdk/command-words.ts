/** The words of the domain's tables for the command line, which stands on the SDK alone. */
import { abilitiesOf, channelAliases, channelNames, ofEachRuntime, runtimeKinds } from '@lodge/domain';

const kept = {
  channelNames: { words: channelNames, of: 'Channels that a command takes.' },
  channelAliases: { words: Object.fromEntries(channelAliases), of: 'Other names of channels in files.' },
  runtimes: { words: ofEachRuntime((kind) => abilitiesOf(kind).name), of: 'Names of runtimes by their kind.' },
  runtimesWithMembers: {
    words: runtimeKinds.filter((kind) => abilitiesOf(kind).hasMembers).map((kind) => abilitiesOf(kind).name),
    of: 'Names of runtimes whose machines hold several agents.',
  },
} as const;

export function commandWords(): string {
  const constants = Object.entries(kept).map(
    ([name, { words, of }]) => `/** ${of} */\nexport const ${name} = ${literal(words)} as const;\n`,
  );
  return `// Written by scripts/docs.ts from packages/domain.\n\n${constants.join('\n')}\nexport type RuntimeName = (typeof runtimes)[keyof typeof runtimes];\n`;
}

const literal = (words: object): string =>
  Array.isArray(words)
    ? `[${words.map((word) => `'${word}'`).join(', ')}]`
    : `{ ${Object.entries(words)
        .map(([key, word]) => `${key}: '${word}'`)
        .join(', ')} }`;
