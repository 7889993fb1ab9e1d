/** The words of the try-out: it stands in for a model where nobody has a provider's key yet. */

export interface Message {
  readonly role?: unknown;
  readonly content?: unknown;
}

/** A text to say, or a tool to call. */
export type Answer =
  | { readonly text: string }
  | { readonly tool: string; readonly arguments: Readonly<Record<string, string>> };

/** OpenClaw's and Hermes' names of the tool that runs a command. */
const shells = ['exec', 'terminal'];
const maxRepeated = 2_000;
const contextBegins = '<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>';
const contextEnds = '<<<END_OPENCLAW_INTERNAL_CONTEXT>>>';

/** After "run: <command>" it asks for that command, and then tells what it printed. It repeats everything else. */
export function answerTo(messages: readonly Message[], tools: readonly string[]): Answer {
  const said = messages.findLast((message) => !isContextAlone(message));
  if (said?.role === 'tool') return { text: `The command printed:\n\n${fenced(textOf(said.content).trim())}` };
  const words = lastWords(messages);
  const command = commandIn(words);
  if (command !== null) {
    const tool = shells.find((name) => tools.includes(name));
    if (tool === undefined) return { text: `I was offered no tool to run that with.` };
    return { tool, arguments: { command } };
  }
  return {
    text: `I stand in for a model, and repeat what I am told: **${words.slice(0, maxRepeated)}**\n\nSay \`run: uname -a\` to see me use the machine. For real answers, give this agent a provider’s key and a model in its settings.`,
  };
}

function commandIn(words: string): string | null {
  const at = words.lastIndexOf('run:');
  if (at === -1) return null;
  const command = words
    .slice(at + 'run:'.length)
    .split('\n', 1)[0]!
    .trim();
  return command === '' ? null : command.slice(0, maxRepeated);
}

const fenced = (text: string): string => `\`\`\`\n${text.slice(0, maxRepeated).replaceAll('```', '` ` `')}\n\`\`\``;

/** The last thing that a person said, without what the runtimes put around it. */
function lastWords(messages: readonly Message[]): string {
  for (const message of messages.toReversed()) {
    if (message.role !== 'user') continue;
    const words = withoutAdded(textOf(message.content));
    if (words !== '') return words;
  }
  return '';
}

/** OpenClaw puts its own context, the time and a line about itself around what was said. */
function withoutAdded(text: string): string {
  const [first = '', ...contexts] = text.split(contextBegins);
  let words = first + contexts.map((context) => context.split(contextEnds).slice(1).join('')).join('');
  const said = words.lastIndexOf('\n[Current message - respond to this]\nUser: ');
  if (said !== -1) words = words.slice(said + '\n[Current message - respond to this]\nUser: '.length);
  const about = words.lastIndexOf('\n\nRuntime: agent=');
  if (about !== -1) words = words.slice(0, about);
  return words.trim().replace(/^\[\w{3} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]{0,40}\] /, '');
}

const isContextAlone = ({ role, content }: Message): boolean => role === 'user' && withoutAdded(textOf(content)) === '';

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : '')).join('');
}
