/** Shape of an agent id: DNS-label safe. */
export const agentIdPattern = /^[a-z][a-z0-9]{11}$/;

const letters = 'abcdefghijklmnopqrstuvwxyz';
const alphanumerics = `${letters}0123456789`;

/** Makes an agent id from `random`, which returns unguessable integers in [0, below). */
export function makeAgentId(random: (below: number) => number): string {
  let id = letters[random(letters.length)]!;
  while (id.length < 12) id += alphanumerics[random(alphanumerics.length)];
  return id;
}
