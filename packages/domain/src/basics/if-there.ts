/** The code of the operating system's errors for an absent file or folder. */
const absent = 'ENOENT';

/** Resolves with null when the wanted file or folder is absent, or fails with one of `more`. Rejects with every other error. */
export async function ifThere<T>(wanted: Promise<T>, ...more: readonly string[]): Promise<T | null> {
  try {
    return await wanted;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    if ([absent, ...more].some((each) => each === code)) return null;
    throw error;
  }
}

/** Resolves with whether the file was there on which something was done. */
export const wasThere = async (done: Promise<unknown>): Promise<boolean> =>
  (await ifThere(done.then(() => true))) ?? false;
