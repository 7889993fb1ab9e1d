/**
 * Places skills in a guest by `place.sh`, which root runs there through the daemon. Runtimes look at the folder themselves, so
 * no gateway is told.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { guestClient, maxExecTimeoutMs } from '@lodge/guest';
import type { GuestClient } from '@lodge/guest';
import type { GuestAddress, SkillFile, WantedSkill, WantedSkills } from '@lodge/ports';
import { skillsPath } from './folders.ts';

const script = readFileSync(new URL('place.sh', import.meta.url), 'utf8');

/** Bounds, each times the host's pace: of a look, and of a copy of all skills within the machine. */
const lookMs = 10_000;
const copyMs = 120_000;

/** Returns the folders of a skill in the set; none when nobody has it. */
type PlacesOf = (skill: WantedSkill, members: readonly string[]) => readonly string[];

/** Brings the set of a guest to the wanted one. See `GuestSkills.place`. */
export async function placeSkills(
  address: GuestAddress,
  wanted: WantedSkills,
  placesOf: PlacesOf,
  read: (skill: WantedSkill) => Promise<readonly SkillFile[]>,
  signal: AbortSignal,
): Promise<void> {
  const guest = guestClient(address);
  const placed = wanted.skills.flatMap((skill) =>
    placesOf(skill, wanted.members).map((place) => ({ version: skill.digest, place })),
  );
  const digest = createHash('sha256').update(JSON.stringify(placed)).digest('hex');
  const [there, ...versions] = (await step(guest, ['check'], lookMs, signal)).split('\n');
  if (there === digest) return;
  const used = new Set(placed.map(({ version }) => version));
  const written = new Set(versions);
  try {
    for (const skill of wanted.skills) {
      if (written.has(skill.digest) || !used.has(skill.digest)) continue;
      written.add(skill.digest);
      await write(guest, `${skillsPath}/incoming/${skill.digest}`, await read(skill), signal);
    }
    await step(guest, ['put', digest, ...placed.flatMap(({ version, place }) => [version, place])], copyMs, signal);
  } catch (error) {
    // Else a full disk would stay full. A guest that does not answer is cleaned with the next check.
    await step(guest, ['clean'], copyMs, signal).catch(() => undefined);
    throw error;
  }
  await guest.sync(false, { signal });
}

async function write(
  guest: GuestClient,
  folder: string,
  files: readonly SkillFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const { path, executable, content } of files) {
    const file = { mode: executable ? 0o755 : 0o644, owner: 'root' } as const;
    await guest.writeFile(`${folder}/${path}`, content, file, { signal });
  }
}

async function step(
  guest: GuestClient,
  argv: readonly string[],
  boundMs: number,
  signal: AbortSignal,
): Promise<string> {
  const timeoutMs = Math.min(maxExecTimeoutMs, Math.round(boundMs * guest.pace));
  const run = { argv: ['sh', '-c', script, 'skills', ...argv], user: 'root', cwd: '/', timeoutMs } as const;
  const { exitCode, stdout, stderr, timedOut } = await guest.exec(run, { signal });
  if (exitCode === 0 && !timedOut) return stdout;
  const why = timedOut ? 'it took too long' : stderr.trim().slice(0, 500);
  throw new Error(`the skills could not be placed in the machine (${argv[0]}): ${why}`);
}
