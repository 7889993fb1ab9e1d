/** The parts of an object whose values differ from before: what a person changed. Others may have changed the rest meanwhile. */
export function changedParts<Body extends object>(before: Body, after: Body): Partial<Body> {
  const differs = ([name, value]: [string, unknown]): boolean =>
    JSON.stringify(value) !== JSON.stringify(before[name as keyof Body]);
  return Object.fromEntries(Object.entries(after).filter(differs)) as Partial<Body>;
}
