import { change, lodge } from '../../../api.ts';

/** The name is taken, or the file is gone. */
export class RenameRefused extends Error {}

/** `mv` alone would move a file into a folder of the new name, or over another file. */
const script = '[ ! -e "$2" ] && [ ! -L "$2" ] || { echo taken; exit 17; }; exec mv -T -- "$1" "$2"';
const takenCode = 17;

/** Renames a file or a folder, by a command in the agent's machine: the API of files has no such operation. */
export async function rename(agentId: string, from: string, to: string): Promise<void> {
  const argv = ['sh', '-c', script, 'sh', `./${from}`, `./${to}`];
  const { exit_code: code, stderr } = await change(() => lodge.exec.run(agentId, { argv, timeout_seconds: 20 }));
  if (code === 0) return;
  if (code === takenCode) throw new RenameRefused('Something with this name is there already.');
  throw new RenameRefused(`The machine refused: ${stderr.trim().slice(0, 200) || 'no reason was given'}.`);
}
