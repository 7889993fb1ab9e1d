/**
 * The folders of skills in a guest. Root owns them, so an agent cannot change what its owner gave it. The image has an empty
 * set, as both runtimes know its path from their start on.
 */

export const skillsPath = '/var/lib/lodge/skills';
/** The set that the runtime sees. Another one takes its place by one rename. */
export const skillSetPath = `${skillsPath}/set`;
/** The folder in the set for skills that the agent and all of its members have. Hermes takes it for their category. */
export const sharedSkills = 'lodge';
/** Returns the folder in the set for skills of a member alone, or of the agent itself: OpenClaw's name of it is `main`. */
export const ownSkills = (member: string | null): string => `agents/${member ?? 'main'}`;
