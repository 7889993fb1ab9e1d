/**
 * A host's pace: how many times longer a guest's own work may take there. It is measured when a template is made, by how long its
 * guest took from its first instruction to its daemon's first answer. Bounds on what a guest has to do are multiplied by it.
 */

/** Under emulation on two cores with other work a guest takes up to this long; every bound holds there. */
export const referenceBootMs = 30_000;
/** A guest that dawdles while its template is made gets no more than this out of it. */
export const maxPace = 20;

/** A whole number, 1 to `maxPace`. */
export function paceOf(bootMs: number): number {
  return Math.min(maxPace, Math.max(1, Math.ceil(bootMs / referenceBootMs)));
}

/** What was kept of an earlier measurement; 1 of none, and of what none gives. */
export function keptPace(kept: unknown): number {
  return Number.isInteger(kept) && Number(kept) >= 1 && Number(kept) <= maxPace ? Number(kept) : 1;
}
