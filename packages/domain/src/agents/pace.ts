/**
 * A host's pace: the factor by which a guest's own work may take longer there. It is measured when a template is made, as
 * the time from its guest's first instruction to its daemon's first answer. Bounds on a guest's work are multiplied by it.
 */

/** The longest such time under emulation on two cores with other work, in ms. Every bound holds there. */
export const referenceBootMs = 30_000;
/** The largest pace. A guest that dawdles while its template is made gains no more than this. */
export const maxPace = 20;

/** Returns the pace, a whole number from 1 to `maxPace`. */
export function paceOf(bootMs: number): number {
  return Math.min(maxPace, Math.max(1, Math.ceil(bootMs / referenceBootMs)));
}

/** Returns a stored pace; 1 when the stored value is missing or impossible. */
export function keptPace(kept: unknown): number {
  return Number.isInteger(kept) && Number(kept) >= 1 && Number(kept) <= maxPace ? Number(kept) : 1;
}
