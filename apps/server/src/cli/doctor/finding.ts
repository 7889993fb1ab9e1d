/** One thing Lodge needs or uses, as it was found on this machine. */
export interface Finding {
  readonly name: string;
  /** `lack`: Lodge does not work without it. `note`: it works, but there is something to know. */
  readonly state: 'ok' | 'note' | 'lack';
  readonly detail: string;
  /** What to do about it; null when nothing is to be done. */
  readonly advice: string | null;
}

export interface Section {
  readonly title: string;
  readonly findings: readonly Finding[];
}

export const ok = (name: string, detail: string): Finding => ({ name, state: 'ok', detail, advice: null });
export const note = (name: string, detail: string, advice: string | null = null): Finding => ({
  name,
  state: 'note',
  detail,
  advice,
});
export const lack = (name: string, detail: string, advice: string): Finding => ({
  name,
  state: 'lack',
  detail,
  advice,
});

/** The finding of a check, or the lack that its failure is: one check that breaks must not hide the others. */
export async function found(name: string, check: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    return lack(name, error instanceof Error ? error.message : String(error), 'see the other findings');
  }
}
