const PATHS = {
  overview: 'M2 9l3-4 3 3 3-5 3 4M2 14h12',
  playground: 'M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 11h4',
  requests: 'M2 4h12M2 8h12M2 12h7',
  keys: 'M10 6.5a3 3 0 1 0-3 3l1-1h1.500v-1.500h1.500zM6.500 9.500L2.500 13.500',
  spend: 'M8 2v12M11 4.500C10 3.500 5 3.200 5 5.700S11 8 11 10.500 6 13 4.800 11.500',
  channels: 'M2 4h5l2 4h5M2 12h5l2-4',
  tags: 'M8.500 2H14v5.500L7.500 14 2 8.500zM11.500 4.500v.01',
  models: 'M8 2l5.500 3v6L8 14l-5.500-3V5zM8 8l5.500-3M8 8v6M8 8L2.500 5',
  people: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM3 13.500c.5-6 9.500-6 10 0',
  codes: 'M2 4.500h12v2a1.500 1.500 0 0 0 0 3v2H2v-2a1.500 1.500 0 0 0 0-3zM9 4.500v7',
  nodes: 'M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5v.01M5 11v.01',
  alerts: 'M4 11V7a4 4 0 0 1 8 0v4l1 1H3zM7 14h2',
  audit: 'M4 2h8v12H4zM6 5h4M6 8h4M6 11h2',
  account: 'M8 8a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM3 13.500c.5-6 9.500-6 10 0',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700L14 14',
  menu: 'M2 4h12M2 8h12M2 12h12',
  light: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v2M8 13v2M1 8h2M13 8h2',
  dark: 'M13 9.500A5.500 5.500 0 1 1 6.500 3 4.500 4.500 0 0 0 13 9.500z',
  language: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2C4 6 4 10 8 14 12 10 12 6 8 2',
  logout: 'M7 2H3v12h4M6 8h8M11 5l3 3-3 3',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
