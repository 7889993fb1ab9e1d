/**
 * Commands and changes of files in an agent's machine, as rules see them. The runtime in the machine asks before it runs one. It
 * stops a careless model, not a program: a program in the machine does what it likes.
 */
import { policyFor } from './rules.ts';
import type { ConfirmationPolicy, Confirmations, GuardedAct } from './rules.ts';

export const commandBounds = {
  toolChars: 64,
  /** Characters of a command. A longer one is refused, as nobody would read it. */
  textChars: 16_384,
  /** Characters of a tool's arguments that are shown. */
  detailChars: 4_000,
} as const;

/** A command, or `write` with a path. The agent's default is not for commands: it would ask before every `ls`. */
export const commandAct = (text: string): GuardedAct => ({ on: ['command'], texts: [text], hasDefault: false });

/** Whether the runtime must ask at all. */
export const hasCommandRules = (confirmations: Confirmations | null): boolean =>
  confirmations?.rules.some(({ on, policy }) => on === 'command' && policy !== 'allow') ?? false;

const strictness: readonly ConfirmationPolicy[] = ['allow', 'ask', 'deny'];

/**
 * The policy for a command line. It may hold several commands, and the strictest policy of any of them counts, unless a rule
 * allows the whole line word for word.
 */
export function commandPolicy(confirmations: Confirmations | null, text: string): ConfirmationPolicy {
  const policyOf = (command: string): ConfirmationPolicy => policyFor(confirmations, commandAct(command));
  const whole = policyOf(text);
  const isNamed = confirmations?.rules.some((rule) => rule.on === 'command' && rule.match === text);
  if (confirmations === null || (whole === 'allow' && isNamed)) return whole;
  const policies = [whole, ...commandsIn(text).map(policyOf)];
  return policies.reduce((strictest, each) =>
    strictness.indexOf(each) > strictness.indexOf(strictest) ? each : strictest,
  );
}

/** Commands of a line that are looked at by themselves. */
const maxCommands = 200;
/** Words before a command that do not change which one it is. */
const before = new Set(['!', 'command', 'do', 'else', 'env', 'exec', 'if', 'nohup', 'sudo', 'then', 'time', 'while']);

/** The commands of a line of a shell, without the words and variables before them. Quotes are not looked at. */
function commandsIn(text: string): readonly string[] {
  return text
    .split(/[\n;&|(){}`]/, maxCommands)
    .map((piece) => {
      const words = piece.split(/\s/).filter((word) => word !== '');
      const first = words.findIndex((word) => !before.has(word) && !/^[A-Za-z_]\w*=/.test(word));
      return first === -1 ? '' : words.slice(first).join(' ');
    })
    .filter((command) => command !== '');
}
