/** One requirement of Lodge, as it was found on this machine. */
export interface Finding {
  readonly name: string;
  /** `fail`: Lodge does not work without it. `warn`: it works, and something is weak. `note`: there is something to know. */
  readonly state: 'ok' | 'note' | 'warn' | 'fail';
  readonly detail: string;
  /** Advice; null when nothing is to be done. */
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
export const warn = (name: string, detail: string, advice: string): Finding => ({
  name,
  state: 'warn',
  detail,
  advice,
});
export const fail = (name: string, detail: string, advice: string): Finding => ({
  name,
  state: 'fail',
  detail,
  advice,
});

/** The finding that only root could make, for any other user. */
export const unseen = (name: string): Finding => note(name, unseenDetail, 'run it as root to see this too');

const unseenDetail = 'could not be seen: only root may look';
export const isUnseen = ({ detail }: Finding): boolean => detail === unseenDetail;

export const isRoot = (): boolean => process.getuid?.() === 0;

/** The finding of a check, or of its failure: one broken check must not hide the others. */
export async function found(name: string, check: () => Promise<Finding> | Finding): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (isForbidden(error)) return unseen(name);
    return fail(name, error instanceof Error ? error.message : String(error), 'see the other findings');
  }
}

/** Whether this user may not look at something. */
function isForbidden(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const isDenied =
    code === 'EACCES' || code === 'EPERM' || /permission denied|operation not permitted/i.test(String(message));
  return isDenied && !isRoot();
}
