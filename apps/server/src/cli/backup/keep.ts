import { CommandError } from '../command.ts';

const kinds = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly'];
const form = 'a number of backups, or such as daily=7,weekly=4,monthly=12';

/** restic's options for the kept backups; null keeps all. */
export function keepOptions(text: string | null): string[] | null {
  if (text === null) return null;
  return text.split(',').flatMap((each) => {
    const [, kind = 'last', number] = /^(?:([a-z]+)=)?([1-9]\d{0,4})$/.exec(each.trim()) ?? [];
    if (number === undefined || !kinds.includes(kind)) throw new CommandError(`--keep is ${form}.`);
    return [`--keep-${kind}`, number];
  });
}
