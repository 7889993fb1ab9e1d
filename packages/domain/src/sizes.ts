/** Machine sizes (service specification, section 2.3). `diskGib` is the size of the guest's root disk. */
export const sizes = {
  small: { vcpus: 1, memoryMib: 2048, diskGib: 10 },
  medium: { vcpus: 2, memoryMib: 4096, diskGib: 10 },
  large: { vcpus: 2, memoryMib: 8192, diskGib: 10 },
  xlarge: { vcpus: 4, memoryMib: 16384, diskGib: 10 },
} as const;

export type SizeName = keyof typeof sizes;
export const sizeNames = Object.keys(sizes) as readonly SizeName[];
export const defaultSize: SizeName = 'medium';
