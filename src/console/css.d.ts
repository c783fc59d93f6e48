/** Style sheets are for the bundler alone. */
declare module '*.css';
