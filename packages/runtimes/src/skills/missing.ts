/** Looks for what skills need, as the commands of an agent would find it. */
import type { SkillRequires } from '@lodge/domain';
import type { GuestClient } from '@lodge/guest';
import type { WantedSkill } from '@lodge/ports';
import { shellFile } from '../environment.ts';

const lookMs = 20_000;

/** Prints the kind and the name of each thing that is not there. */
const script = `
[ ! -r ${shellFile} ] || . ${shellFile}
for need; do
  name=\${need#*:}
  case $need in
  programs:*) command -v -- "$name" >/dev/null 2>&1 || echo "$need" ;;
  variables:*) [ -n "$(printenv -- "$name")" ] || echo "$need" ;;
  esac
done
`;

type Guest = Pick<GuestClient, 'exec' | 'pace'>;

const kinds = ['programs', 'variables'] as const;

/** Returns which of the things that a skill needs are missing in a guest, after one look for all skills. */
export async function missingIn(
  guest: Guest,
  skills: readonly WantedSkill[],
  signal: AbortSignal,
): Promise<(requires: SkillRequires) => SkillRequires> {
  const needs = skills.flatMap(({ requires }) =>
    kinds.flatMap((kind) => requires[kind].map((name) => `${kind}:${name}`)),
  );
  const missing = needs.length === 0 ? new Set<string>() : await missingNeeds(guest, [...new Set(needs)], signal);
  const only = (requires: SkillRequires, kind: (typeof kinds)[number]): string[] =>
    requires[kind].filter((name) => missing.has(`${kind}:${name}`));
  return (requires) => ({ programs: only(requires, 'programs'), variables: only(requires, 'variables') });
}

async function missingNeeds(guest: Guest, needs: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>> {
  const argv = ['sh', '-c', script, 'needs', ...needs];
  // The answer repeats what was asked at most.
  const maxOutputBytes = needs.join('\n').length + 1;
  const { stdout } = await guest.exec({ argv, timeoutMs: lookMs * guest.pace, maxOutputBytes }, { signal });
  return new Set(stdout.split('\n'));
}
