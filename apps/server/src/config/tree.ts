/** Settings in groups: the operator's variables have no groups, and those who read the values do. */
import type { Setting } from '@lodge/ports/settings';

export interface Tree {
  readonly [key: string]: Setting<unknown> | Tree;
}

/** The values of settings, in the same groups. */
export type Values<Of extends Tree> = {
  readonly [Key in keyof Of]: Of[Key] extends Setting<infer Value>
    ? Value
    : Of[Key] extends Tree
      ? Values<Of[Key]>
      : never;
};

const isSetting = (each: Setting<unknown> | Tree): each is Setting<unknown> => typeof each['parse'] === 'function';

export const leavesOf = (tree: Tree): readonly Setting<unknown>[] =>
  Object.values(tree).flatMap((each) => (isSetting(each) ? [each] : leavesOf(each)));

export const valuesOf = <Of extends Tree>(tree: Of, read: (setting: Setting<unknown>) => unknown): Values<Of> =>
  Object.fromEntries(
    Object.entries(tree).map(([key, each]) => [key, isSetting(each) ? read(each) : valuesOf(each, read)]),
  ) as Values<Of>;
